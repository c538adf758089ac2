"""Reads JUnit XML with junitparser, as its consumers do: prints the file's counts, then a line for each test case."""

import sys

import junitparser

xml = junitparser.JUnitXml.fromfile(sys.argv[1])
print(xml.tests, xml.failures, xml.errors)
for suite in xml:
    if (suite.tests, suite.failures, suite.errors) != (
        len(list(suite)),
        sum(case.is_failure for case in suite),
        sum(case.is_error for case in suite),
    ):
        sys.exit("the suite's counts are not those of its cases")
    for case in suite:
        if case.time is None or suite.time is None:
            sys.exit("no time: a reader that adds times shows NaN")
        results = [f"{type(result).__name__} {result.type}" for result in case.result]
        print(case.classname, case.name, *results, sep="\t")
