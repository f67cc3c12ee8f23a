import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import envPaths from 'env-paths'
import { parseAllDocuments } from 'yaml'

import { ROOT } from '../../src/local/root.ts'

export const HELM_VERSION = '3.19.0'
export const VALIDATOR_VERSION = '1.37.0'
const { cache } = envPaths('kiln', { suffix: '' })
/** Folder of helm, and of the environment of Python with kubernetes-validate. */
export const HELM_FOLDER = join(cache, `helm-${HELM_VERSION}-${VALIDATOR_VERSION}`)
const HELM = join(HELM_FOLDER, 'helm')
const PYTHON = join(HELM_FOLDER, 'python/bin/python')
export const CHART = join(ROOT, 'deploy/helm/kiln')

/** Why charts cannot be rendered and validated; undefined when both programs are there. */
export const whyNoHelm = async (): Promise<string | undefined> =>
  await Promise.all([access(HELM), access(PYTHON)]).then(
    () => undefined,
    () => `no ${HELM_FOLDER}: \`node tools/run.mjs tools/helm.ts\` makes it`,
  )

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; annotations?: Record<string, string> }
  spec: Record<string, never>
  data?: Record<string, string>
}

/** Runs helm; throws with what it printed where it fails. */
export const runHelm = async (...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(HELM, args, { maxBuffer: 2 ** 24 })
  return stdout
}

/** Renders the chart and reads its manifests. */
export const renderChart = async (...args: string[]): Promise<Manifest[]> => {
  const text = await runHelm('template', 'kiln', CHART, '--kube-version', '1.31.0', ...args)
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
}

/** Validates manifests of Kubernetes' own kinds against its schemas, unknown members included. Returns the issues. */
export const validateManifests = async (path: string): Promise<string> => {
  const program = `
import sys, yaml, kubernetes_validate as k
for one in yaml.safe_load_all(open(sys.argv[1])):
    if one is None or '.' in one['apiVersion'].split('/')[0] and not one['apiVersion'].split('/')[0].endswith('.k8s.io'): continue
    try: k.validate(one, '1.31', strict=True)
    except k.ValidationError as error: print(one['kind'], one['metadata']['name'], error.message)
`
  const { stdout } = await promisify(execFile)(PYTHON, ['-c', program, path])
  return stdout
}
