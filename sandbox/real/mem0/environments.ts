// Prepares Python environments with both major versions of mem0.
import { join } from 'node:path';
import { preparePython, whyPythonUnavailable } from '../../../processes/python-tools.ts';
import type { Service } from '../../../processes/service.ts';

export type Mem0Major = 1 | 2;

/** Starts no process: the variables name the Python interpreter for each version. */
export const mem0Environments: Service = {
  title: 'mem0 1.x and 2.x',
  whyUnavailable: whyPythonUnavailable,
  async start(resources) {
    const MEM0_1_PYTHON = await preparePython(resources, join(import.meta.dirname, 'mem0-1.txt'));
    const MEM0_2_PYTHON = await preparePython(resources, join(import.meta.dirname, 'mem0-2.txt'));
    return { environment: { MEM0_1_PYTHON, MEM0_2_PYTHON }, ended: new Promise(() => {}) };
  },
};
