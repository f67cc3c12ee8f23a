import { makePythonParser } from '../../src/python/parse.ts'
import { printTree } from './print-tree.ts'

export const parser = await makePythonParser()

/** The statements of a source, a line each. */
export const treeOf = (source: string): string[] => printTree(parser.parse(source))
