import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { send } from '../api/client.ts'
import { inPlainWords } from '../api/issues.ts'
import { AskButton } from '../ui/ask.tsx'
import { Copied } from '../ui/code.tsx'
import { DownloadButton } from '../ui/download.tsx'
import { Checkbox } from '../ui/fields.tsx'
import { Link, taskPage } from '../ui/link.tsx'
import { Facts, Note, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Rows, useMore } from '../ui/rows.tsx'
import { TemporalLink } from '../ui/temporal-link.tsx'
import { Bdi, Progress, StateBadge, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import {
  bulkQuery,
  idOf,
  linesQuery,
  type Batch,
  type Bulk,
  type BulkKind,
} from './bulk-queries.ts'
import { describeBulk, stateOfBulk, titleOfBulk } from './bulk-words.ts'
import { foldLines, type FoldedLine } from './fold-lines.ts'
import { Rejected } from './new-batch.tsx'
import { Stoppable } from './operation.tsx'
import { readText } from './queries.ts'
import type { BulkLine } from './types.ts'

type OfKind = { kind: BulkKind }

/** A batch or an operation: its counts, and what has become of its requests or tasks. */
export const BulkDetail = ({ kind, id }: OfKind & { id: string }) => (
  <Stack>
    <Link to="." search={{ tab: kind }}>
      {kind === 'batches' ? t('All batches') : t('All operations')}
    </Link>
    <Show query={useQuery(bulkQuery(kind, id))}>
      {(bulk) => (
        <>
          <Panel
            title={titleOfBulk(bulk)}
            actions={
              <>
                <TemporalLink
                  workflow={`run-${'batch_id' in bulk ? 'batch' : 'operation'}/${id}`}
                />
                <StateBadge state={stateOfBulk(bulk)} />
              </>
            }
          >
            {!bulk.ended_at && (
              <Row>
                {'batch_id' in bulk ? <Going batch={bulk} /> : <Stoppable operation={bulk} />}
              </Row>
            )}
            {bulk.error && (
              <Note tone="warn">
                <Bdi>{inPlainWords(bulk.error.message)}</Bdi>
              </Note>
            )}
            <Facts
              of={{
                [t('Counts')]: describeBulk(bulk),
                [t('Created')]: <Time at={bulk.created_at} />,
                [t('Ended')]: bulk.ended_at && <Time at={bulk.ended_at} />,
                [t('Filter')]: 'filter' in bulk && !('task_ids' in bulk.filter) && (
                  <Bdi as="code">{JSON.stringify(bulk.filter)}</Bdi>
                ),
                [t('Id')]: <Copied text={id} label={t('id')} />,
              }}
            />
          </Panel>
          <Lines kind={kind} bulk={bulk} />
        </>
      )}
    </Show>
  </Stack>
)

/** Progress of a batch, and the way to end it. */
const Going = ({ batch: { batch_id: id, state, total, counts } }: { batch: Batch }) => {
  const ended = counts.done + counts.failed + counts.cancelled + counts.rejected
  return (
    <>
      <Progress label={t('Progress')} part={total === 0 ? undefined : ended / total} />
      {state !== 'cancelling' && (
        <AskButton
          label={t('Cancel batch')}
          title={t('Cancel the batch?')}
          dismiss={t('Keep running')}
          variant="danger"
          write={() => send('POST', '/batches/{id}/cancel', { path: { id }, body: {} })}
          refresh={bulkQuery('batches', id).queryKey}
        >
          <p>
            {t('No more tasks are created. Unfinished tasks stop; their credits are refunded.')}
          </p>
        </AskButton>
      )}
    </>
  )
}

const STEP = 50

const Lines = ({ kind, bulk }: OfKind & { bulk: Bulk }) => {
  const [isAll, setAll] = useState(false)
  const query = useQuery(linesQuery(kind, bulk))
  const lines = query.data ?? []
  const issues = lines.filter(({ error }) => error !== undefined)
  const rejected = issues.flatMap(({ state, index }) => (state === 'rejected' ? index : []))
  const { shown, more } = useMore<FoldedLine>(isAll ? lines : foldLines(issues), STEP)
  const title = kind === 'batches' ? t('Requests') : t('Tasks')
  const id = idOf(bulk)
  const actions = (
    <>
      <Checkbox label={t('Show all')} isSelected={isAll} onChange={setAll} />
      <DownloadButton
        label={t('Download results')}
        name={`${kind}-${id.slice(0, 8)}-results.jsonl`}
        type="application/jsonl"
        read={() => readText(`/${kind}/${id}/results`)}
      />
    </>
  )
  return (
    <Panel title={title} actions={actions}>
      {kind === 'batches' && rejected.length > 0 && (
        <Rejected batch={id} total={bulk.total} places={rejected} />
      )}
      <Show query={query}>
        {() => (
          <>
            <Rows
              label={title}
              rows={shown}
              empty={isAll ? t('None yet') : t('No rejected or failed requests')}
              columns={COLUMNS}
            />
            {more}
          </>
        )}
      </Show>
    </Panel>
  )
}

const TaskLink = ({ id }: { id: string | undefined }) =>
  id ? <Link {...taskPage(id)}>{id}</Link> : '–'

/** Counts requests from 1: `#2` is the second; blank lines of a file are none. */
const nameLine = (index: number): string => `#${index + 1}`

const COLUMNS = {
  [t('Number')]: ({ index }: BulkLine) => nameLine(index),
  [t('State')]: ({ state }: BulkLine) => <StateBadge state={state} />,
  [t('Task')]: ({ task_id: id, new_task_id: made }: BulkLine) => (
    <>
      <TaskLink id={id} /> {made && <TaskLink id={made} />}
    </>
  ),
  [t('Error')]: ({ error, others = [] }: FoldedLine) => {
    const details = error?.details?.filter((detail) => detail !== error.message) ?? []
    return (
      error && (
        <div>
          <Bdi>{[error.message, ...details].map(inPlainWords).join(' ')}</Bdi>
          {others.length > 0 && <Others lines={others} />}
        </div>
      )
    )
  },
}

/** Most lines that are named one by one. */
const NAMED = 200

/** Lines that ended as the one that is shown. */
const Others = ({ lines }: { lines: readonly BulkLine[] }) => (
  <details>
    <summary>
      {t('and {count, plural, one {# more line} other {# more lines}} like this', {
        count: lines.length,
      })}
    </summary>
    {lines
      .slice(0, NAMED)
      .map(({ index }) => nameLine(index))
      .join(', ')}
    {lines.length > NAMED && ` ${t('… see the results for all of them')}`}
  </details>
)
