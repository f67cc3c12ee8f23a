import type { FindingsSection } from '../../src/inspection.ts'
import { makePack } from '../../src/pack.ts'
import { makePythonParser } from '../../src/python/parse.ts'
import { decodeSource } from '../../src/python/source-text.ts'
import { scanPack } from '../../src/scan/scan-pack.ts'
import type { ScanInput } from '../../src/scan/scan-pack.ts'
import { entriesOf } from '../entries.ts'
import type { Files } from '../entries.ts'

const parser = await makePythonParser()

export const scanFiles = (
  files: Files,
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
