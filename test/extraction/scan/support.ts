import { isTextKind } from '../../../src/extraction/archive/entry.ts'
import type { ArchiveEntry } from '../../../src/extraction/archive/entry.ts'
import type { FindingsSection } from '../../../src/domain/registry/inspection.ts'
import { makePack } from '../../../src/extraction/pack.ts'
import { makePythonParser } from '../../../src/extraction/python/parse.ts'
import { decodeSource } from '../../../src/extraction/python/source-text.ts'
import { scanPack } from '../../../src/extraction/scan/scan-pack.ts'
import type { ScanInput } from '../../../src/extraction/scan/scan-pack.ts'

const parser = await makePythonParser()

/** Entries of an archive, as its reader gives them. */
export const entriesOf = (files: Record<string, string | Uint8Array>): ArchiveEntry[] =>
  Object.entries(files).map(([path, content]) => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    return {
      path,
      bytes: bytes.length,
      sha256: '0'.repeat(64),
      head: bytes.subarray(0, 4096),
      text: isTextKind(path) && bytes.length <= 5 * 1024 * 1024 ? bytes : undefined,
      mode: undefined,
      executable: false,
    }
  })

export const scanFiles = (
  files: Record<string, string | Uint8Array>,
  options: Partial<Omit<ScanInput, 'pack'>> = {},
): FindingsSection => {
  const entries = entriesOf(files)
  const texts = new Map(entries.map(({ path, text }) => [path, text]))
  return scanPack({
    pack: makePack(entries),
    modules: (path) => {
      const text = texts.get(path)
      return text && parser.parse(decodeSource(text))
    },
    reached: new Set(),
    ...options,
  })
}

/** A made-up secret, written in parts so that nobody who scans this repository takes it for a real one. */
export const secret = (...parts: string[]): string => parts.join('')

/** Imports that the cases use, in one line, so that lines are easy to count. */
const IMPORTS =
  'import ast, asyncio, base64, binascii, bz2, codecs, ctypes, glob, gzip, importlib, io, json, marshal, os, pathlib, pickle, re, requests, runpy, shutil, sqlite3, subprocess, sys, tarfile, tempfile, torch, types, urllib.request, yaml, zipfile, zlib; from os.path import expanduser, join; from pathlib import Path; from urllib.request import urlretrieve, urlopen'

/** Rules that a source hits, of high or medium severity, each once, sorted. */
export const rulesOf = (source: string): string[] => {
  const { findings } = scanFiles({ '__init__.py': `${IMPORTS}\n${source}\n` })
  return [...new Set(findings.map(({ issue_type: rule }) => rule))].toSorted()
}
