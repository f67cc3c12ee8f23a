import type { Severity } from '../inspection.ts'

interface Rule {
  tier: Severity
  /** Finding in a few words. */
  title: string
  /** Advice to the publisher. */
  advice: string
}

const ofTier = <Id extends string>(
  tier: Severity,
  rules: Record<Id, Omit<Rule, 'tier'>>,
): Record<Id, Rule> => {
  const ruled = Object.entries<Omit<Rule, 'tier'>>(rules).map(([id, rule]) => [
    id,
    { tier, ...rule },
  ])
  return Object.fromEntries(ruled) as Record<Id, Rule>
}

/** Every rule, the gravest first: of findings of one severity the earlier rule is the worse. */
export const RULES = {
  ...ofTier('high', {
    'exec-decoded': {
      title: 'Code that an encoding hides is run',
      advice: 'Ship the code as readable Python',
    },
    'exec-network': {
      title: 'Code from the network is run',
      advice: 'Ship the code with the pack',
    },
    'download-run': {
      title: 'A downloaded file is run',
      advice: 'Tell users to install the program themselves, or require a package that has it',
    },
    exfiltration: {
      title: 'Files or the environment are sent to a drop address',
      advice:
        'Send nothing of the machine, and nothing to an address of your own without being asked',
    },
    'credential-read': {
      title: 'A store of credentials is read',
      advice: 'Let users enter the key that the pack needs',
    },
    miner: { title: 'A crypto miner is used', advice: 'Remove it' },
    'hidden-call': {
      title: 'A call is hidden by putting its name together',
      advice: 'Call the function by its name',
    },
    'code-object': {
      title: 'A function is made of raw bytecode',
      advice: 'Ship the code as readable Python',
    },
    'disguised-binary': {
      title: 'A program has the name of another kind of file',
      advice: 'Remove it, or give it its own extension',
    },
    'odd-bytecode': {
      title: 'Bytecode would be run that no source can be compared with',
      advice: 'Ship the .py file and no .pyc',
    },
    'binary-used': {
      title: 'A program in the archive is started or installed',
      advice: 'Require a package that has the program, or tell users to install it themselves',
    },
    'bad-requirement': {
      title: 'A malicious release is required',
      advice: 'Require another release',
    },
    'live-secret': {
      title: 'A secret is published',
      advice: 'Revoke it where it was issued, and read it from the environment',
    },
  }),
  ...ofTier('medium', {
    'dynamic-code': {
      title: 'Text is run as code',
      advice: 'Parse data with ast.literal_eval or json, and look functions up by name',
    },
    'runtime-install': {
      title: 'Packages are installed at run time',
      advice: 'List them in requirements.txt or pyproject.toml',
    },
    'unsafe-load': {
      title: 'A file is loaded that can run code',
      advice: 'Use safetensors, weights_only=True or a data format',
    },
    shell: {
      title: 'A command goes through a shell',
      advice: 'Pass the program and its arguments as a list',
    },
    'remote-code': {
      title: 'Code of a model repository is run',
      advice: 'Leave trust_remote_code off, or pin a revision',
    },
    'foreign-requirement': {
      title: 'A requirement does not come from the package index',
      advice: 'Require a release of the package index',
    },
    'near-name': {
      title: 'A required name is nearly that of a well-known package',
      advice: 'Check the spelling',
    },
    minified: {
      title: 'Code is written in one very long line',
      advice: 'Ship the code as it was written',
    },
    'native-binary': {
      title: 'The archive holds a program, a library, a wheel or bytecode',
      advice: 'Require a package that has it',
    },
    'name-collision': {
      title: 'Two files have the same name but for case or Unicode form; one was left out',
      advice: 'Remove one of them',
    },
    'not-scanned': {
      title: 'Code could not be scanned',
      advice: 'Make it valid Python in UTF-8 of ordinary size',
    },
  }),
  ...ofTier('info', {
    'nested-archive': {
      title: 'An archive lies in the archive, and was not opened',
      advice: 'Put its files into the pack',
    },
    process: { title: 'A program is started', advice: 'Say so in the description' },
    network: { title: 'The network is used', advice: 'Say so in the description' },
    'native-call': { title: 'Native code is called', advice: 'Say so in the description' },
    script: { title: 'The archive holds a shell script', advice: 'Say so in the description' },
  }),
}

export type RuleId = keyof typeof RULES

/** The gravest first. */
export const RULE_IDS = Object.keys(RULES) as RuleId[]
