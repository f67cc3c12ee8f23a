import { useQuery } from '@tanstack/react-query'

import { readQuery, send } from '../api/client.ts'
import { AskButton, WriteButton } from '../ui/ask.tsx'
import { Link, StrangersLink, taskPage } from '../ui/link.tsx'
import { Panel } from '../ui/panels.tsx'
import { Rows, useMore } from '../ui/rows.tsx'
import { Badge, Bdi, StateBadge, Time } from '../ui/values.tsx'
import { showNumber } from '../words/language.ts'
import { showSeconds } from '../words/text.ts'
import { rich, t } from '../words/translate.ts'
import { listTemplates, sortInstances, type Fleet, type Instance } from './fleet-rows.ts'

const fleetQuery = readQuery('/admin/instances', {}, { refetchInterval: 5000 })

/** Instances of engines and their templates; nothing where no worker has an instance. */
export const FleetPanels = () => {
  const { data } = useQuery(fleetQuery)
  if (!data || data.instances.length === 0) return null
  return (
    <>
      <Instances instances={data.instances} />
      {data.crashed.length > 0 && <Crashed tasks={data.crashed} />}
      <Templates fleet={data} />
    </>
  )
}

const Instances = ({ instances }: Pick<Fleet, 'instances'>) => {
  const { shown, more } = useMore(sortInstances(instances), 20, 100)
  return (
    <Panel
      id="instances"
      title={t('Engine instances')}
      actions={t('{count, plural, one {# instance} other {# instances}}', {
        count: instances.length,
      })}
    >
      <Rows
        label={t('Engine instances')}
        rows={shown}
        empty=""
        columns={{
          [t('Instance')]: ({ name, version }) => (
            <div>
              <Bdi as="strong">{name}</Bdi>{' '}
              <Bdi as="span" className="soft small">
                {version}
              </Bdi>
            </div>
          ),
          [t('State')]: ({ state }) => <StateBadge state={state} />,
          [t('Tasks')]: ({ tasks }) => tasks.map((task) => <Running key={task.id} task={task} />),
          [t('Loaded')]: ({ state, template, models }) =>
            state !== 'gone' && (
              <div>
                <Bdi>{template}</Bdi>{' '}
                <Bdi as="span" className="soft small">
                  {models.join(', ')}
                </Bdi>
              </div>
            ),
          [t('Last 24 h')]: ({ ends }) =>
            ends.map(({ end, count }) => `${showNumber(count)} ${inWords(end)}`).join(', '),
          '': (instance) => <Drain instance={instance} />,
        }}
        below={({ engine, state, seen_at: seen, last_error: error, last_error_at: at }) =>
          (error || state === 'gone') && (
            <div className="small">
              {state === 'gone' && (
                <p>
                  {rich('Last response {time}. Start it, or remove it from {setting}.', {
                    time: <Time at={seen} />,
                    setting: engine === undefined ? 'COMFYUI_URLS' : 'ENGINES_HTTP',
                  })}
                </p>
              )}
              {state === 'quarantined' && <p>{t('Restart it, so that it gets tasks.')}</p>}
              {error && (
                <p>
                  {rich('Last error, {time}:', { time: <Time at={at} /> })}{' '}
                  <Bdi as="code">{error}</Bdi>
                </p>
              )}
            </div>
          )
        }
      />
      {more}
    </Panel>
  )
}

/** Tasks that ended because their prompts broke two instances; whoever restarts those finds here what to keep away. */
const Crashed = ({ tasks }: { tasks: Fleet['crashed'] }) => (
  <Panel title={t('Tasks that crash instances')} actions={t('last 24 h')}>
    <Rows
      label={t('Tasks that crash instances')}
      rows={tasks}
      empty=""
      columns={{
        [t('Task')]: ({ id, kind, at }) => <Running task={{ id, kind, since: at }} />,
        [t('Template')]: ({ template }) => <Bdi>{template}</Bdi>,
        [t('Instances')]: ({ instances }) => <Bdi>{instances.join(', ')}</Bdi>,
      }}
      below={({ error }) => <Bdi as="code">{error}</Bdi>}
    />
  </Panel>
)

const inWords = (word: string): string => word.replaceAll('_', ' ')

type Shown = Pick<Instance['tasks'][number], 'id' | 'kind' | 'since'>

const Running = ({ task: { id, kind, since } }: { task: Shown }) => (
  <div>
    <Link {...taskPage(id)}>{inWords(kind)}</Link> <Time at={since} />
  </div>
)

/** Drains an instance, or ends its drain. Both stand in the audit log. */
const Drain = ({ instance: { name: id, is_drained: isDrained, tasks } }: { instance: Instance }) =>
  isDrained ? (
    <WriteButton
      label={t('Resume')}
      write={() => send('POST', '/admin/instances/{id}/resume', { path: { id }, body: {} })}
    />
  ) : (
    <AskButton
      label={t('Drain')}
      title={t('Drain {id}?', { id })}
      action={t('Drain instance')}
      fields={[{ name: 'reason', label: t('Reason'), isOptional: true }]}
      write={({ reason }) => {
        const body = reason ? { reason } : {}
        return send('POST', '/admin/instances/{id}/drain', { path: { id }, body })
      }}
    >
      <p>
        {tasks.length === 0
          ? t('It finishes its tasks and gets no new ones until you resume it.')
          : t(
              'It finishes {count, plural, one {# task} other {# tasks}} and gets no new ones until you resume it.',
              { count: tasks.length },
            )}
      </p>
    </AskButton>
  )

/** A file of a model that a template needs, with the folder in which it belongs. */
const Model = ({
  file,
  folder,
  url,
  digest,
}: Fleet['templates'][number]['model_files'][number]) => (
  <div className="soft small" title={digest}>
    <Bdi>{folder === undefined ? file : `${folder}/${file}`}</Bdi>{' '}
    {url !== undefined && <StrangersLink address={url}>{t('from')}</StrangersLink>}
  </div>
)

const Templates = ({ fleet }: { fleet: Fleet }) => (
  <Panel title={t('Engine templates')}>
    <Rows
      label={t('Engine templates')}
      rows={listTemplates(fleet)}
      empty={t('No worker has read templates yet')}
      columns={{
        [t('Template')]: ({ name, version, model_files: files }) => (
          <div>
            <Bdi as="strong">{name}</Bdi>{' '}
            {version !== undefined && (
              <code className="soft small" title={version}>
                {version.slice(0, 12)}
              </code>
            )}
            {files.map((model) => (
              <Model key={model.file} {...model} />
            ))}
          </div>
        ),
        [t('Waiting')]: ({ tasks, oldest_seconds: age }) =>
          tasks > 0
            ? t('{count, plural, one {# task} other {# tasks}}, oldest {time}', {
                count: tasks,
                time: showSeconds(age),
              })
            : '–',
        [t('Runs on')]: ({ able }) =>
          able === 0 ? (
            <Badge tone="bad">{t('no instance')}</Badge>
          ) : (
            able !== undefined &&
            t('{count, plural, one {# instance} other {# instances}}', { count: able })
          ),
      }}
      below={({ able, warnings, lacking, reasons }) =>
        (warnings.length > 0 || lacking.length > 0 || reasons.length > 0) && (
          <>
            {warnings.length > 0 && (
              <ul className="small">
                {warnings.map((warning) => (
                  <li key={warning}>
                    <Badge tone="warn">{t('warning')}</Badge> <Bdi>{warning}</Bdi>
                  </li>
                ))}
              </ul>
            )}
            {reasons.length > 0 && (
              <ul className="small">
                {reasons.map(({ reason, tasks }) => (
                  <li key={reason}>
                    <Bdi>{reason}</Bdi>:{' '}
                    {t('{count, plural, one {# task} other {# tasks}} waiting', { count: tasks })}
                  </li>
                ))}
              </ul>
            )}
            {lacking.length > 0 && (
              <details open={able === 0}>
                <summary>
                  {t('{count, plural, one {# instance} other {# instances}} cannot run it', {
                    count: lacking.length,
                  })}
                </summary>
                <ul className="small">
                  {lacking.map(({ instance, issues }) => (
                    <li key={instance}>
                      <Bdi as="strong">{instance}</Bdi>: <Bdi as="code">{issues.join('; ')}</Bdi>
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </>
        )
      }
    />
  </Panel>
)
