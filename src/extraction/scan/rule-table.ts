import type { Severity } from '../../domain/registry/finding.ts'

/** Raised with every change that can alter a result. */
export const SCANNER_VERSION = 3

export const SCANNER = 'kiln'

interface Rule {
  tier: Severity
  /** What was found, in a few words. */
  title: string
  /** What the publisher can do about it. */
  advice: string
}

/** Every rule, the gravest first: of findings of one severity the earlier rule is the worse. */
export const RULES = {
  'exec-decoded': {
    tier: 'high',
    title: 'Code that an encoding hides is run',
    advice: 'Ship the code as readable Python',
  },
  'exec-network': {
    tier: 'high',
    title: 'Code from the network is run',
    advice: 'Ship the code with the pack',
  },
  'download-run': {
    tier: 'high',
    title: 'A downloaded file is run',
    advice: 'Tell users to install the program themselves, or require a package that has it',
  },
  exfiltration: {
    tier: 'high',
    title: 'Files or the environment are sent to a drop address',
    advice:
      'Send nothing of the machine, and nothing to an address of your own without being asked',
  },
  'credential-read': {
    tier: 'high',
    title: 'A store of credentials is read',
    advice: 'Let users enter the key that the pack needs',
  },
  miner: {
    tier: 'high',
    title: 'A crypto miner is used',
    advice: 'Remove it',
  },
  'hidden-call': {
    tier: 'high',
    title: 'A call is hidden by putting its name together',
    advice: 'Call the function by its name',
  },
  'code-object': {
    tier: 'high',
    title: 'A function is made of raw bytecode',
    advice: 'Ship the code as readable Python',
  },
  'disguised-binary': {
    tier: 'high',
    title: 'A program has the name of another kind of file',
    advice: 'Remove it, or give it its own extension',
  },
  'odd-bytecode': {
    tier: 'high',
    title: 'Bytecode would be run that no source can be compared with',
    advice: 'Ship the .py file and no .pyc',
  },
  'binary-used': {
    tier: 'high',
    title: 'A program in the archive is started or installed',
    advice: 'Require a package that has the program, or tell users to install it themselves',
  },
  'bad-requirement': {
    tier: 'high',
    title: 'A malicious release is required',
    advice: 'Require another release',
  },
  'live-secret': {
    tier: 'high',
    title: 'A secret is published',
    advice: 'Revoke it where it was issued, and read it from the environment',
  },
  'dynamic-code': {
    tier: 'medium',
    title: 'Text is run as code',
    advice: 'Parse data with ast.literal_eval or json, and look functions up by name',
  },
  'runtime-install': {
    tier: 'medium',
    title: 'Packages are installed at run time',
    advice: 'List them in requirements.txt or pyproject.toml',
  },
  'unsafe-load': {
    tier: 'medium',
    title: 'A file is loaded that can run code',
    advice: 'Use safetensors, weights_only=True or a data format',
  },
  shell: {
    tier: 'medium',
    title: 'A command goes through a shell',
    advice: 'Pass the program and its arguments as a list',
  },
  'remote-code': {
    tier: 'medium',
    title: 'Code of a model repository is run',
    advice: 'Leave trust_remote_code off, or pin a revision',
  },
  'foreign-requirement': {
    tier: 'medium',
    title: 'A requirement does not come from the package index',
    advice: 'Require a release of the package index',
  },
  'near-name': {
    tier: 'medium',
    title: 'A required name is nearly that of a well-known package',
    advice: 'Check the spelling',
  },
  minified: {
    tier: 'medium',
    title: 'Code is written in one very long line',
    advice: 'Ship the code as it was written',
  },
  'native-binary': {
    tier: 'medium',
    title: 'The archive holds a program, a library, a wheel or bytecode',
    advice: 'Require a package that has it',
  },
  'name-collision': {
    tier: 'medium',
    title: 'Two files have the same name but for case or Unicode form; one was left out',
    advice: 'Remove one of them',
  },
  'not-scanned': {
    tier: 'medium',
    title: 'Code could not be scanned',
    advice: 'Make it valid Python in UTF-8 of ordinary size',
  },
  'nested-archive': {
    tier: 'info',
    title: 'An archive lies in the archive, and was not opened',
    advice: 'Put its files into the pack',
  },
  process: { tier: 'info', title: 'A program is started', advice: 'Say so in the description' },
  network: { tier: 'info', title: 'The network is used', advice: 'Say so in the description' },
  'native-call': {
    tier: 'info',
    title: 'Native code is called',
    advice: 'Say so in the description',
  },
  script: {
    tier: 'info',
    title: 'The archive holds a shell script',
    advice: 'Say so in the description',
  },
} as const satisfies Record<string, Rule>

export type RuleId = keyof typeof RULES

/** The gravest first. */
export const RULE_IDS = Object.keys(RULES) as RuleId[]
