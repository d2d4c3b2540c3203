import { createSandboxGraph } from '../../../../sandbox/graph.ts';
import { describeGraphDump } from './graph-dump.ts';
import { describeGraphStore } from './graph-store.ts';

const openEmpty = async () => createSandboxGraph();

describeGraphStore('the sandbox', openEmpty);
describeGraphDump('the sandbox', openEmpty);
