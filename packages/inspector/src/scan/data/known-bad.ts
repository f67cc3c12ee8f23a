/** Releases, or whole projects, that are known to be malicious for one reason. */
export interface KnownBad {
  /** The bad releases of each project, whose name is normalised as in PEP 503. */
  projects: Readonly<Record<string, readonly string[] | 'all'>>
  reason: string
  /** Day on which it became known. */
  date: string
  source: string
}

/** Raise the scanner's version with every change. */
export const KNOWN_BAD: readonly KnownBad[] = [
  {
    projects: { ultralytics: ['8.3.41', '8.3.42', '8.3.45', '8.3.46'] },
    reason: 'the release runs a crypto miner',
    date: '2024-12-05',
    source: 'https://github.com/ultralytics/ultralytics/pull/18018',
  },
  {
    projects: { litellm: ['1.82.7', '1.82.8'] },
    reason: 'the release steals credentials',
    date: '2026-03-24',
    source: 'https://github.com/BerriAI/litellm/issues/24518',
  },
  {
    projects: { telnyx: ['4.87.1', '4.87.2'] },
    reason: 'the release steals credentials',
    date: '2026-03-27',
    source: 'https://github.com/pypa/advisory-database/pull/271',
  },
  {
    projects: { lightning: ['2.6.2', '2.6.3'] },
    reason: 'the release steals credentials',
    date: '2026-04-30',
    source: 'https://github.com/Lightning-AI/pytorch-lightning/issues/21691',
  },
  {
    projects: { mistralai: ['2.4.6'] },
    reason: 'the release downloads and runs a program from a fixed address',
    date: '2026-05-12',
    source: 'https://github.com/mistralai/client-python/issues/523',
  },
  // Numbers that the vendors never released: only the thief's own wheels have them.
  {
    projects: { openai: ['1.16.3'], anthropic: ['0.21.4', '0.21.5'] },
    reason: 'the number is that of a wheel which steals passwords; the vendor never released it',
    date: '2024-06-09',
    source: 'https://github.com/ltdrdata/ComfyUI-Manager/blob/main/glob/security_check.py',
  },
  {
    projects: { torchtriton: 'all' },
    reason: 'the project was planted to run a program that steals data',
    date: '2022-12-30',
    source: 'https://pytorch.org/blog/compromised-nightly-dependency/',
  },
  {
    projects: { deepseeek: 'all', deepseekai: 'all' },
    reason: 'the project passes for a client of an AI vendor and steals the environment',
    date: '2025-01-29',
    source:
      'https://nsfocusglobal.com/pt-br/insights-from-the-deepseek-malicious-software-package-incident-why-software-supply-chain-security-matters-in-global-ai-technology-competition/',
  },
  {
    projects: { loquru: 'all' },
    reason: 'the project passes for loguru and runs code from the network',
    date: '2025-08-01',
    source: 'https://github.com/Delgan/loguru/issues/1363',
  },
  {
    projects: { solanapy: 'all' },
    reason: 'the project passes for solana and steals keys',
    date: '2022-08-25',
    source: 'https://github.com/michaelhly/solana-py/issues/285',
  },
  {
    projects: { 'aiohttp-proxy-connector': 'all', 'aiohttp-socks-connector': 'all' },
    reason: 'the project runs a program that steals passwords when it is installed',
    date: '2022-03-27',
    source: 'https://github.com/pypi/warehouse/issues/11025',
  },
]

/**
 * Clients of AI vendors, with the beginnings of addresses at which the vendor itself offers files. A file of such a name
 * from anywhere else passes for the vendor's: that is how passwords of image-node users were stolen in June 2024
 * (source: https://github.com/ltdrdata/ComfyUI-Manager/blob/main/glob/security_check.py).
 */
export const VENDOR_CLIENTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['anthropic', ['github.com/anthropics/']],
  ['cohere', ['github.com/cohere-ai/']],
  ['google-genai', ['github.com/googleapis/', 'github.com/google-gemini/']],
  ['google-generativeai', ['github.com/google/', 'github.com/google-gemini/']],
  ['groq', ['github.com/groq/']],
  ['huggingface-hub', ['github.com/huggingface/']],
  ['mistralai', ['github.com/mistralai/']],
  ['openai', ['github.com/openai/']],
  ['replicate', ['github.com/replicate/']],
])

/** Hosts that have the files of every project. */
export const INDEX_HOSTS: readonly string[] = [
  'files.pythonhosted.org/',
  'pypi.org/',
  'pypi.python.org/',
]
