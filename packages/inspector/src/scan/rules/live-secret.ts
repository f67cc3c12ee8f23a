import { extensionOf, type ArchiveEntry } from '../../archive/entry.ts'
import type { Hit } from '../hit.ts'
import { findTokens, hasPrivateKey } from '../secrets.ts'
import type { SourceFile } from '../source/source-file.ts'

/** live-secret in Python: in strings that are used, not in docstrings. */
export const findSecretsInSource = (file: SourceFile): Hit[] =>
  file.texts.flatMap(({ text, line }) =>
    text.length < SHORTEST ? [] : findSecrets(text, line, file.path, { keys: true }),
  )

/** No token is shorter. */
const SHORTEST = 20

/** live-secret in other texts, and in the beginnings of files that hold settings or keys. */
export const findSecretsInText = (entry: ArchiveEntry): Hit[] => {
  const extension = extensionOf(entry.path)
  const bytes = SETTINGS.test(entry.path) ? entry.head : entry.text
  if (!bytes || extension === '.py' || extension === '.pyi') return []
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return text
    .split('\n')
    .flatMap((line, at): Hit[] =>
      line.length < SHORTEST || line.length > LONGEST
        ? []
        : findSecrets(line, at + 1, entry.path, { keys: false }),
    )
    .concat(
      !/^\.m?js$/.test(extension) && hasPrivateKey(text) ? [keyHit(entry.path, lineOf(text))] : [],
    )
}

/** Kinds whose whole content isn't kept. */
const SETTINGS = /(?:^|\/)(?:\.env(?:\.\w+)?|[^/]*\.(?:env|ini|pem|key|conf))$/i

/** A longer line is a bundle or data. */
const LONGEST = 20_000

const findSecrets = (
  text: string,
  line: number,
  path: string,
  { keys }: { keys: boolean },
): Hit[] => {
  const tokens = findTokens(text).map(({ issuer }): Hit => ({
    rule: 'live-secret',
    path,
    line,
    text,
    detail: `token of ${issuer}`,
  }))
  return keys && hasPrivateKey(text) ? [...tokens, keyHit(path, line)] : tokens
}

const keyHit = (path: string, line: number): Hit => ({
  rule: 'live-secret',
  path,
  line,
  detail: 'private key',
})

const lineOf = (text: string): number =>
  text.slice(0, text.search(/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY/)).split('\n').length
