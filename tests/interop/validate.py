"""validate.py [--closed] SCHEMA FILE..: each line of the JSONL files against a JSON Schema (draft 2020-12).

--closed: keys that the schema does not name are wrong as well, as the writers must not add any in silence.
Prints FILE:LINE: POINTER: what is wrong, and how many lines were valid; exits with 1 if any was not.
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
