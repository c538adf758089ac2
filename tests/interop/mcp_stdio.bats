#!/usr/bin/env bats
# MCP servers from npm over stdio, with the state read from their tools and resources.

# shellcheck disable=SC2154 # variables of lib.bash

load lib

# child NAME [ARGUMENTS..]: the target that starts a server of npm.
child() {
	local name=$1
	shift
	echo "stdio:node $installed/npm/node_modules/@modelcontextprotocol/server-$name/dist/index.js $*"
}

counts() {
	jq -c 'select(.type == "rollout") | [.status, .steps, .effective, .failed]' "$1.json"
}

# graph NAME: builds a knowledge graph: two nodes, an edge, an observation, a search, and the deletion of a node.
graph() {
	cat >policy.json <<-'JSON'
		{"kind": "script", "name": "graph", "calls": [
		{"name": "create_entities", "arguments": {"entities": [
			{"name": "lake", "entityType": "place", "observations": ["frozen"]},
			{"name": "goal", "entityType": "tile", "observations": []}]}},
		{"name": "create_relations", "arguments": {"relations": [{"from": "lake", "to": "goal", "relationType": "holds"}]}},
		{"name": "add_observations", "arguments": {"observations": [{"entityName": "goal", "contents": ["lower right"]}]}},
		{"name": "search_nodes", "arguments": {"query": "goal"}},
		{"name": "delete_entities", "arguments": {"entityNames": ["lake"]}}]}
	JSON
	MEMORY_FILE_PATH=$PWD/$1.memory drive "$1" 0 --env "$(child memory)" --pass-env MEMORY_FILE_PATH --policy policy.json --state tool:read_graph
}

@test "server-memory: four of five steps change the graph, and the fifth is read-only" {
	graph walk
	holds walk 'header | .env.protocol == "mcp" and .env.name == "memory-server" and .state_source.kind == "tool"'
	holds walk 'steps | map(.outcome) | unique == ["ok"]'
	holds walk '[steps[], ending] | map(.state.entities | map(.name)) == [[], ["lake", "goal"], ["lake", "goal"],
		["lake", "goal"], ["lake", "goal"], ["goal"]]'
	holds walk '[steps[], ending] | map(.state.relations | length) == [0, 0, 1, 1, 1, 0]'
	holds walk 'ending.state.entities[0].observations == ["lower right"]'
	no_findings walk
	[ "$(counts walk)" = '["finished",5,4,0]' ]
}

@test "server-memory: two equal runs are the same after strip" {
	graph one
	graph two
	diff <("$ROLLDBG" strip one.jsonl) <("$ROLLDBG" strip two.jsonl)
}

@test "server-memory: its output beside the protocol is kept apart" {
	graph walk
	holds walk 'of("event") | map(select(.event == "noise")) | map(.detail.channel) == ["stderr"]'
	holds walk 'of("event") | any(.detail.text // "" | contains("running on stdio"))'
}

@test "server-memory: a graph that cannot be written fails each time, and is an illusion" {
	mkdir here.memory
	cat >policy.json <<-'JSON'
		{"kind": "script", "name": "same", "calls": [
		{"name": "create_entities", "arguments": {"entities": [{"name": "a", "entityType": "t", "observations": []}]}},
		{"name": "create_entities", "arguments": {"entities": [{"name": "b", "entityType": "t", "observations": []}]}},
		{"name": "create_entities", "arguments": {"entities": [{"name": "c", "entityType": "t", "observations": []}]}}]}
	JSON
	MEMORY_FILE_PATH=$PWD/here.memory drive full 1 --env "$(child memory)" --pass-env MEMORY_FILE_PATH --policy policy.json
	holds full 'steps | all(.outcome == "tool-error" and .error.layer == "mcp" and (.error.message | contains("EISDIR")))'
	fires full "multi-step-illusion error"
}

@test "server-filesystem: files are created and moved, and refused calls change nothing" {
	mkdir tree
	cat >policy.json <<-JSON
		{"kind": "script", "name": "files", "calls": [
		{"name": "create_directory", "arguments": {"path": "$PWD/tree/notes"}},
		{"name": "write_file", "arguments": {"path": "$PWD/tree/notes/a.txt", "content": "one\ntwo\n"}},
		{"name": "read_text_file", "arguments": {"path": "$PWD/tree/notes/a.txt"}},
		{"name": "move_file", "arguments": {"source": "$PWD/tree/notes/a.txt", "destination": "$PWD/tree/b.txt"}},
		{"name": "read_text_file", "arguments": {"path": "$PWD/tree/notes/a.txt"}},
		{"name": "write_file", "arguments": {"path": "$PWD/elsewhere", "content": "x"}}]}
	JSON
	drive files 0 --env "$(child filesystem "$PWD/tree")" --policy policy.json \
		--state "tool:directory_tree:{\"path\":\"$PWD/tree\"}"
	holds files 'steps | map(.outcome) == ["ok", "ok", "ok", "ok", "tool-error", "tool-error"]'
	holds files 'steps[2].observation == "one\ntwo\n"'
	holds files 'steps[5].error | .class == "tool" and .layer == "mcp" and (.message | contains("outside allowed directories"))'
	holds files 'ending.state | map(.name) == ["b.txt", "notes"]'
	[ "$(cat tree/b.txt)" = $'one\ntwo' ]
	[ ! -e elsewhere ]
	no_findings files
	[ "$(counts files)" = '["finished",6,3,2]' ]
}

@test "server-filesystem: a directory outside its roots is an illusion" {
	mkdir tree
	cat >policy.json <<-'JSON'
		{"kind": "script", "name": "outside", "tool": "create_directory", "actions": ["/etc/a", "/etc/b", "/etc/c"]}
	JSON
	drive outside 1 --env "$(child filesystem "$PWD/tree")" --policy policy.json \
		--state "tool:directory_tree:{\"path\":\"$PWD/tree\"}"
	fires outside "multi-step-illusion error"
	[ "$(counts outside)" = '["finished",3,0,3]' ]
}

@test "server-everything: state from a resource that the session creates" {
	cat >policy.json <<-'JSON'
		{"kind": "script", "name": "press", "calls": [
		{"name": "gzip-file-as-resource", "arguments": {"name": "a.gz", "data": "data:text/plain,one", "outputType": "resourceLink"}},
		{"name": "gzip-file-as-resource", "arguments": {"name": "a.gz", "data": "data:text/plain,two", "outputType": "resourceLink"}},
		{"name": "echo", "arguments": {"message": "three"}}]}
	JSON
	# The resource does not exist before the first call, which is reported as a missing state.
	drive press 1 --env "$(child everything)" --policy policy.json --state resource:demo://resource/session/a.gz
	fires press "missing-state error"
	holds press 'steps | map(.outcome) | unique == ["ok"]'
	holds press 'steps[0].state == null and (steps[1].state[0].blob | length > 0)'
	[ "$(counts press)" = '["finished",3,1,0]' ]
}

@test "server-everything: read-only calls change nothing, and no finding is reported" {
	drive echo 0 --env "$(child everything)" --tool echo --actions a,b,c,d \
		--state resource:demo://resource/static/document/features.md
	holds echo 'steps | all(.state | startswith("# Everything Server"))'
	no_findings echo
	[ "$(counts echo)" = '["finished",4,0,0]' ]
}

@test "a missing server, and one that exits at once, are reported with the reason" {
	run "$ROLLDBG" run --env "stdio:node $PWD/nothing.js" --actions a --out none.jsonl
	[ "$status" = 4 ]
	[[ $output == *"exited with status 1"* ]]
	run "$ROLLDBG" run --env "$(child everything nonsense)" --actions a --out wrong.jsonl
	[ "$status" = 4 ]
	[[ $output == *"Unknown transport: nonsense"* ]]
}
