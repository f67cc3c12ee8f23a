import type { Inspector } from '../../src/adapters/inspector/inspector.ts'
import { openFileSource } from '../../src/extraction/archive/source.ts'
import { inspect } from '../../src/extraction/inspect.ts'
import type { Inspection } from '../../src/domain/registry/inspection.ts'
import { makePythonParser } from '../../src/extraction/python/parse.ts'
import { SCANNER, SCANNER_VERSION } from '../../src/extraction/scan/rule-table.ts'
import { EXTRACTOR_VERSION } from '../../src/extraction/versions.ts'

/** Reads archives in this process: the same reading, without the process of its own that guards a worker. */
export const makeInspector = async (): Promise<Inspector> => {
  const parser = await makePythonParser()
  return {
    extractorVersion: EXTRACTOR_VERSION,
    scanner: SCANNER,
    scannerVersion: SCANNER_VERSION,
    async inspect({ path, nodeId, dependencies, signal }) {
      const found: Partial<Inspection> = {}
      const source = await openFileSource(path)
      try {
        await inspect({
          source,
          nodeId,
          dependencies,
          parser,
          now: () => performance.now(),
          onBegin: () => true,
          onSection: (part) => void Object.assign(found, part),
          ...(signal && { signal }),
        })
      } finally {
        await source.close()
      }
      return found as Inspection
    },
    close: () => Promise.resolve(),
  }
}
