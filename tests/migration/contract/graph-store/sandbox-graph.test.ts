// The graph of the sandbox passes the same contracts as Neo4j.
import { createSandboxGraph } from '../../../../sandbox/graph.ts';
import { describeGraphDump } from './graph-dump.ts';
import { describeGraphStore } from './graph-store.ts';

const openEmpty = async () => createSandboxGraph();

describeGraphStore('the sandbox', openEmpty);
describeGraphDump('the sandbox', openEmpty);
