import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'

import { KilnError } from '../api/client.ts'
import { serviceQuery } from '../api/queries.ts'
import { nodeQuery, versionQuery } from '../registry/queries.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/fields.tsx'
import { Link } from '../ui/link.tsx'
import { PageTitle, Row, Stack } from '../ui/page.tsx'
import { ErrorPanel, Panel } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { Progress } from '../ui/values.tsx'
import { PackDrop } from './drop.tsx'
import { Following } from './following.tsx'
import { checkPack } from './pack.ts'
import type { Check, Pack } from './pack.ts'
import { sendPack } from './send-pack.ts'
import { Checks } from './steps.tsx'

const route = getRouteApi('/publishers/$publisher/publish')

/** Takes a pack, checks it here, publishes it, and follows it. The address names what is followed, so that a reload goes on. */
export const PublishPage = () => {
  const { publisher: publisherId } = route.useParams()
  const { node, version } = route.useSearch()
  const navigate = useNavigate()
  const [pack, setPack] = useState<Pack>()
  const isFollowing = node !== undefined && version !== undefined
  const restart = (): void => {
    setPack(undefined)
    void navigate({ to: '.', search: {} })
  }
  return (
    <>
      <PageTitle
        extra={
          <span>
            for{' '}
            <Link to="/publishers/$publisher" params={{ publisher: publisherId }}>
              <Bdi>{publisherId}</Bdi>
            </Link>
          </span>
        }
        actions={isFollowing && <Button onPress={restart}>Publish another</Button>}
      >
        {isFollowing ? `${node} ${version}` : 'Publish'}
      </PageTitle>
      <Stack>
        {isFollowing ? (
          <Following key={`${node} ${version}`} {...{ publisherId, nodeId: node, version }} />
        ) : (
          <>
            <PackDrop onPack={setPack} />
            {pack && (
              <PackPanel
                // Another pack begins anew.
                key={`${pack.name} ${pack.archive.size} ${pack.files.length}`}
                publisherId={publisherId}
                pack={pack}
                onSent={(sent) =>
                  void navigate({ to: '.', search: { node: sent.nodeId, version: sent.version } })
                }
              />
            )}
          </>
        )}
      </Stack>
    </>
  )
}

/** What the registry says of the node and the version; undefined while it is asked. */
const useRegistryChecks = (pack: Pack, publisherId: string) => {
  const { nodeId = '', version } = pack.project ?? {}
  const enabled = pack.project !== undefined
  const node = useQuery({ ...nodeQuery(nodeId), enabled, staleTime: 0 })
  const taken = useQuery({
    ...versionQuery(nodeId, version?.version ?? ''),
    enabled: enabled && node.data !== undefined,
    staleTime: 0,
  })
  const isNewNode = isMissing(node.error)
  const fault = [node.error, taken.error].find((error) => error !== null && !isMissing(error))
  const checks: Check[] = []
  if (fault) checks.push({ tone: 'bad', text: fault.message })
  else if (isNewNode) checks.push({ tone: 'ok', text: `${nodeId} is a new node: the id is free` })
  else if (node.data && node.data.publisher.id.toLowerCase() !== publisherId.toLowerCase())
    checks.push({
      tone: 'bad',
      text: `${nodeId} belongs to ${node.data.publisher.id}. Give the node another name in pyproject.toml.`,
    })
  else if (taken.data)
    checks.push({
      tone: 'bad',
      text: `The version ${taken.data.version} exists. Raise it in pyproject.toml.`,
    })
  else if (isMissing(taken.error))
    checks.push({
      tone: 'ok',
      text: `${version?.version} is free; installs get ${node.data?.latest_version?.version ?? 'nothing'} now`,
    })
  return { checks, isNewNode }
}

const isMissing = (error: unknown): boolean =>
  error instanceof KilnError &&
  (error.code === 'node_not_found' || error.code === 'version_not_found')

const PackPanel = ({
  publisherId,
  pack,
  onSent,
}: {
  publisherId: string
  pack: Pack
  onSent(sent: { nodeId: string; version: string }): void
}) => {
  const { data: service } = useQuery(serviceQuery)
  const registry = useRegistryChecks(pack, publisherId)
  const mostBytes = service?.limits?.archive_bytes ?? Infinity
  const checks = [...checkPack(pack, { publisherId, mostBytes }), ...registry.checks]
  const [changelog, setChangelog] = useState('')
  const [sending, setSending] = useState<{ step: 'version' | 'archive'; part?: number }>()
  const [error, setError] = useState<Error>()
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])
  const isReady = registry.checks.length > 0 && checks.every(({ tone }) => tone !== 'bad')
  const send = async (): Promise<void> => {
    const { signal } = (abort.current = new AbortController())
    setError(undefined)
    setSending({ step: 'version' })
    try {
      const onStep = (step: 'version' | 'archive', part?: number) => setSending({ step, part })
      const { isNewNode } = registry
      onSent(await sendPack({ publisherId, pack, isNewNode, changelog, signal, onStep }))
    } catch (cause) {
      if (!signal.aborted) setError(cause as Error)
    }
    setSending(undefined)
  }
  return (
    <Panel title={<Bdi>{pack.name}</Bdi>}>
      <Checks checks={checks} />
      <TextField
        label="What has changed (optional)"
        rows={3}
        value={changelog}
        onChange={setChangelog}
        isDisabled={sending !== undefined}
      />
      {sending && (
        <div role="status">
          <p>
            {sending.step === 'version'
              ? 'Reserving the version'
              : `Sending the archive: ${Math.floor((sending.part ?? 0) * 100)} %`}
          </p>
          <Progress part={sending.part} label="Archive sent" />
        </div>
      )}
      {error && <ErrorPanel error={error} />}
      <Row>
        <Button
          look="primary"
          isDisabled={!isReady}
          isPending={sending !== undefined}
          onPress={() => void send()}
        >
          {pack.project ? `Publish ${pack.project.version.version}` : 'Publish'}
        </Button>
        {sending && <Button onPress={() => abort.current?.abort()}>Stop</Button>}
      </Row>
    </Panel>
  )
}
