import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

import { HOWS, type Inspection } from '../../../packages/inspector/src/inspection.ts'
import type { SectionName } from '../../../packages/inspector/src/messages.ts'

const whole = Type.Integer({ minimum: 0 })
const text = Type.String()
const optionalText = Type.Optional(Type.String())

const safe = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

const ArchiveFile = Type.Object({
  path: text,
  bytes: safe,
  sha256: text,
  dataOffset: safe,
  packedBytes: safe,
  isDeflated: Type.Boolean(),
})

const ExtractedNode = Type.Object({
  name: text,
  display_name: optionalText,
  category: text,
  description: text,
  function: text,
  deprecated: Type.Boolean(),
  experimental: Type.Boolean(),
  output_node: Type.Boolean(),
  input_types: text,
  return_types: text,
  return_names: text,
  output_is_list: Type.Array(Type.Boolean()),
  dynamic: Type.Array(text),
})

const ExampleWorkflow = Type.Object({
  path: text,
  bytes: whole,
  form: Type.Enum(['editor', 'api', 'none']),
  host_nodes: Type.Array(
    Type.Object({
      name: text,
      count: whole,
      pack: optionalText,
      own: Type.Optional(Type.Literal(true)),
    }),
  ),
})

const WorkflowName = Type.Object({
  name: text,
  replaced_by: Type.Optional(
    Type.Object({
      host_node: text,
      inputs: Type.Array(Type.Object({ input: text, from: optionalText, value: optionalText }), {
        maxItems: 200,
      }),
    }),
  ),
})

const SCHEMAS = {
  archive: Type.Union([
    Type.Object({
      verdict: Type.Literal('sound'),
      entries: whole,
      unpackedBytes: whole,
      files: Type.Optional(Type.Array(ArchiveFile, { maxItems: 10_000 })),
    }),
    Type.Object({
      verdict: Type.Literal('rejected'),
      code: text,
      message: text,
      entry: optionalText,
    }),
  ]),
  nodes: Type.Object({
    extractorVersion: whole,
    status: Type.Enum(['success', 'failed']),
    reason: optionalText,
    how: Type.Enum([...HOWS]),
    partial: Type.Boolean(),
    reasons: Type.Array(text),
    hints: Type.Optional(Type.Array(text)),
    dropped: whole,
    nodes: Type.Array(ExtractedNode, { maxItems: 5000 }),
    examples: Type.Optional(Type.Array(ExampleWorkflow, { maxItems: 100 })),
    workflow_names: Type.Optional(Type.Array(WorkflowName, { maxItems: 1000 })),
    stats: Type.Record(Type.String(), Type.Number()),
  }),
  findings: Type.Object({
    scanner: text,
    scannerVersion: whole,
    complete: Type.Boolean(),
    findings: Type.Array(
      Type.Object({
        issue_type: text,
        severity: Type.Enum(['high', 'medium', 'info']),
        file_path: optionalText,
        line_number: Type.Optional(Type.Integer({ minimum: 1 })),
        code_snippet: optionalText,
        message: text,
      }),
      { maxItems: 1000 },
    ),
    counts: Type.Object({ high: whole, medium: whole, info: whole }),
    tags: Type.Array(text),
  }),
}

/** Most characters of one section. */
const SECTION_MAX = 16 * 2 ** 20

/**
 * Makes the reader of what a child sends, which is validated like any other input from outside. The reader returns
 * undefined for what is no such section.
 */
export const makeSectionReader = () => {
  const checks = {
    archive: Compile(SCHEMAS.archive),
    nodes: Compile(SCHEMAS.nodes),
    findings: Compile(SCHEMAS.findings),
  }
  return (section: SectionName, json: string): Partial<Inspection> | undefined => {
    if (json.length > SECTION_MAX) return undefined
    try {
      const value: unknown = JSON.parse(json)
      return checks[section].Check(value) ? { [section]: value } : undefined
    } catch {
      return undefined
    }
  }
}
