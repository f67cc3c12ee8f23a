import { skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'

import type { Check } from '../../../client/src/cli/check-pack.ts'
import type { Project } from '../../../client/src/cli/parse-project.ts'
import { responseOf, KilnError, patientApi } from '../api/client.ts'
import { serviceQuery } from '../api/queries.ts'
import { checkArchive, putFile } from '../api/upload.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/fields.tsx'
import { Link, publisherPage } from '../ui/link.tsx'
import { Columns, ErrorPanel, Note, PageTitle, Panel, Row, Stack } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Bdi, Progress } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import { PackDrop } from './drop.tsx'
import { Following, Marks } from './following.tsx'
import { describeChecked, explainNoNodes } from './checked.ts'
import { checkPack, toId, type Pack } from './pack.ts'
import { otherWays, PackNeeds } from './ways.tsx'

const route = getRouteApi('/publishers/$publisher/publish')

/** Takes a pack, has it checked, publishes it, and follows it. The address names what is followed, so that a reload goes on. */
export const Page = (): ReactNode => {
  const { publisher: publisherId } = route.useParams()
  const { node, version } = route.useSearch()
  const navigate = useNavigate()
  const [{ pack, turn }, setDropped] = useState<{ pack?: Pack | undefined; turn: number }>({
    turn: 0,
  })
  const setPack = (pack: Pack | undefined): void =>
    setDropped(({ turn }) => ({ pack, turn: turn + 1 }))
  const [way, setWay] = useState('browser')
  const isFollowing = node !== undefined && version !== undefined
  const restart = (): void => {
    setPack(undefined)
    void navigate({ to: '.', search: {} })
  }
  const again = isFollowing && <Button onPress={restart}>{t('Publish another')}</Button>
  const publisher = (
    <span>
      {rich('for {publisher}', {
        publisher: <Link {...publisherPage(publisherId)}>{publisherId}</Link>,
      })}
    </span>
  )
  const target = { publisherId, nodeId: node ?? toId(undefined) }
  const ways = {
    browser: [t('Browser'), <PackDrop key="browser" onPack={setPack} />],
    ...otherWays(target),
  } as const
  return (
    <>
      <PageTitle extra={publisher} actions={again}>
        {isFollowing
          ? `${node} ${version}`
          : node
            ? t('Publish a version of {node}', { node })
            : t('Publish')}
      </PageTitle>
      {isFollowing ? (
        <Following key={`${node} ${version}`} {...{ publisherId, nodeId: node, version }} />
      ) : (
        <Columns>
          <Tabs label={t('Ways to publish')} tabs={ways} selected={way} onSelect={setWay} />
          <Stack>
            {pack && <PackPanel key={turn} {...{ publisherId, pack, turn }} />}
            {!pack?.project && <PackNeeds {...target} nodeId={node ?? toId(pack?.name)} />}
          </Stack>
        </Columns>
      )}
    </>
  )
}

type PackPanelProps = {
  publisherId: string
  pack: Pack
  /** Number of the drop, because the same name may have other bytes. */
  turn: number
}

const PackPanel = ({ publisherId, pack, turn }: PackPanelProps) => {
  const navigate = useNavigate()
  const { data: service } = useQuery(serviceQuery)
  const { project, archive } = pack
  const maxBytes = service?.limits.archive_bytes ?? Infinity
  const local = checkPack(pack, { publisherId, maxBytes })
  const isFit = local.every(({ tone }) => tone !== 'bad')
  const checking = useQuery({
    queryKey: ['publish', publisherId, pack.name, turn],
    queryFn:
      project && service && isFit
        ? ({ signal }) => checkArchive(archive, queryOf(project, publisherId), signal)
        : skipToken,
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
  })
  const { data: checked, error } = checking
  const [changelog, setChangelog] = useState('')
  const [part, setPart] = useState<number>()
  const sending = useMutation({
    mutationFn: ({ signal }: AbortController) => {
      const isNew = checked?.is_new_node ?? true
      return sendPack(pack, { publisherId, isNew, changelog, signal, onProgress: setPart })
    },
    onMutate: () => setPart(undefined),
    onSuccess: (sent) => void navigate({ to: '.', search: sent }),
    retry: false,
  })
  const { variables: running, isPending } = sending
  useEffect(() => () => running?.abort(), [running])
  const stop = (): void => {
    running?.abort()
    sending.reset()
  }
  const isRejected =
    checked !== undefined && (checked.archive.verdict === 'rejected' || checked.issues.length > 0)
  const isReady = isFit && !isRejected && !checking.isFetching && (checked ?? error) !== null
  const isFlagged = checked?.status === 'NodeVersionStatusFlagged'
  const noNodes = checked && !isRejected ? explainNoNodes(checked) : undefined
  const { version = '' } = project?.version ?? {}
  return (
    <Panel title={<Bdi>{pack.name}</Bdi>}>
      {local.length > 0 && <Marks label={t('Before it is sent')} of={local.map(toMark)} />}
      {checking.isFetching && (
        <div role="status">
          <p>{t('The service reads and scans the pack; nothing of it is kept')}</p>
          <Progress part={undefined} label={t('Being checked')} />
        </div>
      )}
      {checked && (
        <>
          <p>{t('Checked by the service, which has read every file and kept nothing:')}</p>
          <Marks label={t('Checked by the service')} of={describeChecked(checked).map(toMark)} />
          {checked.warnings.length > 0 && (
            <a href="/docs/extraction">{t('How nodes are read, and what hinders it')}</a>
          )}
        </>
      )}
      {error && (
        <Note tone="warn">
          <p>
            {t('Not checked: {message} A publication is checked all the same.', {
              message: error.message,
            })}
          </p>
          <Button onPress={() => void checking.refetch()}>{t('Check again')}</Button>
        </Note>
      )}
      {isFlagged && !isRejected && (
        <Note tone="warn">
          <p>
            {t('Published, it would be on hold until it has been reviewed, and use up its number.')}
          </p>
        </Note>
      )}
      {noNodes && <Note tone="warn">{noNodes}</Note>}
      <TextField
        label={t('Changelog (optional)')}
        rows={3}
        value={changelog}
        onChange={setChangelog}
        isDisabled={isPending}
      />
      {isPending && (
        <div role="status">
          <p>{aboutPart(part)}</p>
          <Progress part={part} label={t('Archive sent')} />
        </div>
      )}
      {sending.error && <ErrorPanel error={sending.error} />}
      <Row>
        <Button
          variant="primary"
          isDisabled={!isReady}
          isPending={isPending}
          onPress={() => sending.mutate(new AbortController())}
        >
          {isFlagged || noNodes
            ? t('Publish {version} all the same', { version })
            : version
              ? t('Publish {version}', { version })
              : t('Publish')}
        </Button>
        {isPending && <Button onPress={stop}>{t('Stop')}</Button>}
      </Row>
    </Panel>
  )
}

const toMark = ({ tone, text }: Check) => ({ state: tone, text })

const queryOf = ({ nodeId, version: { version } }: Project, publisherId: string) => ({
  node_id: nodeId,
  version,
  publisher_id: publisherId,
})

const aboutPart = (part: number | undefined): string =>
  part === undefined
    ? t('Reserving the version')
    : t('Sending the archive: {part} %', { part: Math.floor(part * 100) })

const NODES = '/publishers/{publisherId}/nodes'
const NODE = `${NODES}/{nodeId}` as const

/** Ignores an error of this code: the step was done before, and the response to it was lost. */
const unless = (code: KilnError['code'], done: Promise<unknown>) =>
  done.catch((error: unknown) => {
    if (!(error instanceof KilnError && error.code === code)) throw error
  })

interface Sending {
  publisherId: string
  isNew: boolean | undefined
  changelog: string
  signal: AbortSignal
  /** Called with the part of the archive that has gone (0 to 1), once the version is reserved. */
  onProgress(part: number): void
}

/** Publishes a pack with a token for this publication alone, and sends its archive. Returns the stored version. */
const sendPack = async ({ project, archive }: Pack, sending: Sending) => {
  if (!project) throw new Error(t('a pack without a project'))
  const { publisherId, isNew, changelog, signal, onProgress } = sending
  const { nodeId, node, version } = project
  const { POST } = patientApi
  const at = { params: { path: { publisherId, nodeId } }, signal }
  if (isNew) await unless('node_exists', POST(NODES, { ...at, body: { ...node, id: nodeId } }))
  const { token } = await responseOf(POST(`${NODE}/publish-tokens`, at))
  const body = {
    personal_access_token: token,
    node,
    node_version: { ...version, ...(changelog && { changelog }) },
  }
  const published = await responseOf(POST(`${NODE}/versions`, { ...at, body }))
  onProgress(0)
  await unless('archive_exists', putFile(published.signedUrl, archive, { onProgress, signal }))
  return { node: nodeId, version: published.node_version.version }
}
