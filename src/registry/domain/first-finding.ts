import { Type, type Static } from 'typebox'

/** `high` flags a version, `medium` is shown, `info` is only counted. */
const Severity = Type.Enum(['high', 'medium', 'info'], {
  description: '`high` flags a version, `medium` and `info` do not.',
})

/** Finding as events and versions show it, without its line of code. */
export const FirstFinding = Type.Object({
  issue_type: Type.String({ description: 'The rule.' }),
  severity: Severity,
  file_path: Type.Optional(Type.String({ description: 'The file in the archive.' })),
  line_number: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Its line; absent when it is about the whole file.' }),
  ),
  message: Type.String({ description: 'What was found, and what to do instead.' }),
})
export type FirstFinding = Static<typeof FirstFinding>
