"""validate.py [--closed] SCHEMA FILE..: validates each line of the JSONL files by a JSON Schema (draft 2020-12).

--closed: keys that are not in the schema are errors, so that writers cannot add any unnoticed.
Prints "FILE:LINE: POINTER: ERROR" lines and the number of valid lines; exits with 1 if a line is invalid.
"""

import json
import sys

from jsonschema import Draft202012Validator


def main(arguments):
    closed = arguments[0] == "--closed"
    schema_file, *files = arguments[closed:]
    with open(schema_file, encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    if closed:
        for definition in schema["$defs"].values():
            definition["additionalProperties"] = False
    validator = Draft202012Validator(schema)
    good = bad = 0
    for name in files:
        with open(name, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                errors = list(validator.iter_errors(json.loads(line)))
                for error in errors:
                    print(f"{name}:{number}: {error.json_path}: {error.message}")
                bad += bool(errors)
                good += not errors
    print(f"{good} valid")
    return bad > 0


sys.exit(main(sys.argv[1:]))
