const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Texts of others must neither mention anybody nor be links. */
const escape = (text: string): string => text.replaceAll(/[&<>]/g, (one) => ESCAPES[one] ?? one)

const MAX_CHARACTERS = 3000

/** Makes the body that incoming webhooks of Slack take, and of what speaks as it does: one text. */
export const makeSlackBody = (type: string, data: object | null): { text: string } => {
  const facts = Object.entries(data ?? {})
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${escape(String(value))}`)
  return { text: [`*Kiln: ${escape(type)}*`, ...facts].join('\n').slice(0, MAX_CHARACTERS) }
}
