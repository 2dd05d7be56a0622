"""Has this scorer earned the word "calibrated" on this population, and if not, on which rung did it stop?"""

__version__ = "0.1.0"
