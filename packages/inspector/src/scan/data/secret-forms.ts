interface SecretForm {
  /** Service that issues it. */
  issuer: string
  form: RegExp
  /** Least bits for each character: a placeholder has few different ones. */
  entropy: number
}

/**
 * Tokens whose issuer marks them by a prefix and gives them a length. Each form is the one that the issuer documents or
 * that secret scanners agree on; forms that ordinary text can have are left out.
 */
export const SECRET_FORMS: readonly SecretForm[] = [
  { issuer: 'OpenAI', form: /\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b/g, entropy: 3.5 },
  {
    issuer: 'OpenAI',
    form: /\bsk-(?:proj|svcacct|admin)-[\w-]{20,80}T3BlbkFJ[\w-]{20,80}/g,
    entropy: 3.8,
  },
  { issuer: 'Anthropic', form: /\bsk-ant-(?:api|admin)\d\d-[\w-]{80,110}AA\b/g, entropy: 3.8 },
  { issuer: 'OpenRouter', form: /\bsk-or-v1-[0-9a-f]{64}\b/g, entropy: 3 },
  { issuer: 'an AI vendor', form: /\bsk-[0-9a-f]{32}\b/g, entropy: 3 },
  { issuer: 'an AI vendor', form: /\bsk-[A-Za-z0-9]{48}\b/g, entropy: 4 },
  { issuer: 'ElevenLabs', form: /\bsk_[0-9a-f]{48}\b/g, entropy: 3 },
  { issuer: 'Hugging Face', form: /\bhf_[A-Za-z]{34}\b/g, entropy: 3.8 },
  { issuer: 'Replicate', form: /\br8_[A-Za-z0-9]{37}\b/g, entropy: 3.8 },
  { issuer: 'Groq', form: /\bgsk_[A-Za-z0-9]{52}\b/g, entropy: 4 },
  { issuer: 'xAI', form: /\bxai-[A-Za-z0-9]{80}\b/g, entropy: 4 },
  { issuer: 'Perplexity', form: /\bpplx-[A-Za-z0-9]{48}\b/g, entropy: 4 },
  { issuer: 'GitHub', form: /\bgh[pousr]_[A-Za-z0-9]{36}\b/g, entropy: 3.8 },
  { issuer: 'GitHub', form: /\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b/g, entropy: 4 },
  { issuer: 'GitLab', form: /\bglpat-[\w-]{20}\b/g, entropy: 3.4 },
  { issuer: 'npm', form: /\bnpm_[A-Za-z0-9]{36}\b/g, entropy: 3.8 },
  { issuer: 'PyPI', form: /\bpypi-AgEIcHlwaS5vcmc[\w-]{50,}/g, entropy: 4 },
  { issuer: 'Slack', form: /\bxox[abpr]-\d{10,13}-\d{10,13}-[\w-]{24,}/g, entropy: 3.4 },
  { issuer: 'Stripe', form: /\b[rs]k_live_[A-Za-z0-9]{24,}\b/g, entropy: 3.6 },
  { issuer: 'SendGrid', form: /\bSG\.[\w-]{22}\.[\w-]{43}\b/g, entropy: 4 },
  { issuer: 'Telegram', form: /\b\d{8,10}:AA[\w-]{33}\b/g, entropy: 3.8 },
  { issuer: 'Discord', form: /\b[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}\b/g, entropy: 4 },
  { issuer: 'DigitalOcean', form: /\bdop_v1_[0-9a-f]{64}\b/g, entropy: 3 },
  { issuer: 'Google', form: /\bAIza[\w-]{35}(?![\w-])/g, entropy: 4 },
]

/** Words that people write where a secret would stand. */
export const PLACEHOLDER =
  /example|placeholder|your[-_]?|dummy|fake|test|sample|redacted|secret|xxxx|0000|1234|abcd|qwert|changeme|insert/i

/** The first line of a private key. */
export const PRIVATE_KEY = /-----BEGIN (?:[A-Z]{1,20} )?PRIVATE KEY-----/
