# Functions for a recording read with --slurp: its lines by type, and the positions before each step and at the end.
def of($type): map(select(.type == $type));
def header: of("header")[0];
def reset: of("reset")[0];
def steps: of("step");
def events: of("event") | map(.event);
def ending: of("end")[0];
def positions: (steps | map(.state.position)) + [ending.state.position];
