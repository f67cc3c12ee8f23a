import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import type { CheckedArchive } from '../lib/registry.ts'
import { LocalError } from './error.ts'

/** Findings of the service's reader in an archive, as `kiln-inspect --json` prints them. */
export interface Reading {
  verdict: 'sound' | 'rejected'
  /** Why it was rejected. */
  code: string | null
  status: string
  reason?: string
  partial: boolean
  /** Why some host nodes may be missing. */
  reasons: string[]
  /** Sentences on what to do about each reason, and hints. */
  advice: string[]
  /** Way in which the names of the host nodes were found. */
  how: string
  /** `dynamic` has `host_node_name` where the pack registers the node only under a condition. */
  nodes: Record<string, { dynamic?: readonly string[] }>
  findings: Finding[]
  /** False when the scan did not come to its end. */
  scanned?: boolean
}

type Finding = Pick<Found, 'severity' | 'issue_type' | 'message' | 'file_path' | 'line_number'>
type Found = CheckedArchive['findings'][number]

/** Reads an archive by the reader of the service: that of the checkout or image, or the package kiln-inspector beside this one; undefined where there is none. */
export const readArchive = async (path: string): Promise<Reading | undefined> => {
  const places = [
    ['../../../../../tools/run.mjs', 'packages/inspector/src/kiln-inspect.ts'],
    ['../packages/inspector/src/kiln-inspect.js'],
  ].map(([program = '', ...args]) => [fileURLToPath(new URL(program, import.meta.url)), ...args])
  places.push(findInstalled())
  const found = places.find(([program = '']) => existsSync(program))
  if (!found) return undefined
  // It says at length why it cannot start.
  const stdio = ['ignore', 'pipe', 'ignore'] as const
  const child = spawn(process.execPath, [...found, path, '--json'], { stdio: [...stdio] })
  const line = await text(child.stdout)
  if (line === '') throw new LocalError('the reader of packs does not start: `npm ci` mends it')
  return JSON.parse(line) as Reading
}

const findInstalled = (): string[] => {
  try {
    return [fileURLToPath(import.meta.resolve('kiln-inspector/command'))]
  } catch {
    return []
  }
}
