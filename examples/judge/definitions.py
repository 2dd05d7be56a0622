from pathlib import Path

from calib_pipeline.definitions import project_definitions

defs = project_definitions(Path(__file__).parent)
