import type { Hit } from '../hit.ts'
import type { CallSite } from '../source/call-site.ts'
import type { SourceFile } from '../source/source-file.ts'

/** Report of a rule about one call. */
export type Found = Pick<Hit, 'rule' | 'detail'>

/** Makes a rule that checks every call of a file by itself. */
export const eachCall =
  (findIn: (site: CallSite) => Found | undefined) =>
  (file: SourceFile): Hit[] =>
    file.calls.flatMap((site) => {
      const found = findIn(site)
      return found ? [{ ...found, path: file.path, line: site.call.line }] : []
    })
