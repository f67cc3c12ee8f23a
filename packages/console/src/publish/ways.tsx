import { Code } from '../ui/code.tsx'
import { Panel } from '../ui/panels.tsx'
import { rich, t } from '../words/translate.ts'
import { writeWorkflow } from './workflow.ts'

type Target = { publisherId: string; nodeId: string }

const writeProject = ({ publisherId, nodeId }: Target): string => `[project]
name = "${nodeId}"
version = "1.0.0"
description = "One sentence about the pack."
license = "MIT"

[tool.comfy]
PublisherId = "${publisherId}"
`

/** Files that a pack has, with a sample of the one that describes it. */
export const PackNeeds = (target: Target) => (
  <Panel title={t('What a pack contains')}>
    <p>
      {rich(
        '<code>pyproject.toml</code> with name, version and PublisherId, and <code>__init__.py</code>, which lists the nodes in NODE_CLASS_MAPPINGS.',
        { code: (text) => <code>{text}</code> },
      )}{' '}
      <a href="/docs/publishing#a-pack">{t('Read the guide')}</a>
    </p>
    <Code label={t('pyproject.toml')} text={writeProject(target)} />
  </Panel>
)

const writeCommands = (nodeId: string): string => `export KILN_URL=${location.origin}
export KILN_API_KEY=kiln_key_…
export KILN_PUBLISH_TOKEN=kiln_pat_…
kiln publish ./${nodeId} --changelog "First release"
`

/** Tabs of the ways to publish outside of the browser. */
export const otherWays = (target: Target) =>
  ({
    cli: [
      t('Command line'),
      <Code key="cli" label={t('commands')} text={writeCommands(target.nodeId)} />,
      t('Checks and publishes a folder. Needs an API key of yours and a publish token.'),
      'client#the-command-line',
    ],
    ci: [
      'CI',
      <Code
        key="ci"
        label={t('workflow')}
        text={writeWorkflow({ ...target, url: location.origin, environment: undefined })}
      />,
      t('Publishes a pushed tag without a stored token, once the job is a trusted publisher.'),
      'publishing#from-ci-without-a-secret',
    ],
  }) as const
