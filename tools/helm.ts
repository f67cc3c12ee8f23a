/**
 * Builds helm from Go modules and installs kubernetes-validate into the user's cache, for the tests of the chart:
 * `node tools/run.mjs tools/helm.ts`. Three minutes on two cores.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { HELM_FOLDER, HELM_VERSION, VALIDATOR_VERSION } from '../test/support/helm.ts'
import { buildFromGo } from './build-from-go.ts'

const run = (command: string, ...args: string[]): number =>
  spawnSync(command, args, { stdio: 'inherit' }).status ?? 1

const python = join(HELM_FOLDER, 'python')
process.exitCode =
  buildFromGo(HELM_FOLDER, [`helm.sh/helm/v3/cmd/helm@v${HELM_VERSION}`]) ||
  run('python3', '-m', 'venv', python) ||
  run(
    join(python, 'bin/pip'),
    'install',
    '--quiet',
    `kubernetes-validate==${VALIDATOR_VERSION}`,
    'pyyaml',
  )
