"""The style sheet of the board: system fonts, both colour schemes, nothing from elsewhere."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --faint: #d5dae0; --soft: #5b6570;
  --good: #1a7f37; --bad: #b3261e; --wait: #8a6100; --old: #7a3e9d; --few: #0a6c86; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --paper: #15181c; --faint: #3a424b; --soft: #a4adb8;
  --good: #4cc26a; --bad: #ff8a80; --wait: #e3b341; --old: #cf9cf0; --few: #5cc8e0; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-bottom: .6rem; } h3 { font-size: 1rem; margin-bottom: .3rem; }
section { border-top: 1px solid var(--faint); margin-top: 1.6rem; padding-top: .4rem; }
table { border-collapse: collapse; width: 100%; font-size: .87rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--faint); }
code { font-size: .85em; overflow-wrap: anywhere; }
p { max-width: 62rem; margin: .4rem 0; overflow-wrap: anywhere; }
.figure { overflow-x: auto; margin: .5rem 0; }
.claim { font-weight: 600; } .next { color: var(--soft); }
.badge { font-size: .8rem; font-weight: 600; border: 1px solid currentColor; border-radius: 4px; padding: 0 .4rem;
  white-space: nowrap; }
.badge.calibrated { color: var(--good); } .badge.uncalibrated { color: var(--wait); }
.badge.stale { color: var(--old); }
.badge.insufficient_data { color: var(--few); } .badge.candidate_for_removal { color: var(--bad); }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); } svg .number { font-size: 12px; fill: var(--soft); }
.rung rect { fill: none; stroke: var(--soft); stroke-width: 1.5; } .rung.holds rect { stroke: var(--good); }
.rung.fails rect { stroke: var(--bad); stroke-width: 2.5; } .rung.unresolved rect { stroke-dasharray: 4 3; }
.rail, .axis { stroke: var(--soft); } .tick { stroke: var(--faint); } .zero { stroke: var(--soft); }
.bar .whisker { stroke-width: 2; } .bar.scorer { stroke: var(--ink); fill: var(--ink); }
.bar.people { stroke: var(--good); fill: var(--good); } .bar.comparator { stroke: var(--wait); fill: var(--wait); }
.bar text { stroke: none; }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--soft); }
"""
