import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'

import { readQuery } from '../api/client.ts'
import { serviceQuery, useIsPublic } from '../api/queries.ts'
import { listDevelopmentUsers, signIn, signInAs } from '../api/session.ts'
import { iconOf } from '../registry/queries.ts'
import { SignIn, useDevelopmentUsers } from '../shell/sign-in.tsx'
import { showToast } from '../shell/toasts.tsx'
import { RelitPortrait } from '../try/example.tsx'
import { KINDS } from '../try/kinds.ts'
import { EXAMPLE, toCurl, toPythonCode, toTypeScript } from '../try/snippets.ts'
import { Button } from '../ui/button.tsx'
import { Clip } from '../ui/clip.tsx'
import { Code } from '../ui/code.tsx'
import { Link, LinkButton, nodePage, tryPage } from '../ui/link.tsx'
import { ErrorPanel, NoPacks, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import skin from '../samples/card-skin.webp'
import upscaled from '../samples/card-upscale.webp'
import { Bdi, Tile } from '../ui/values.tsx'
import { WhenSeen } from '../ui/when-seen.tsx'
import { rich, t } from '../words/translate.ts'
import clip from './clip.mp4'
import clipPoster from './clip.webp'
import styles from './home.module.css'
import relit from './relit.avif'

/** First page of who is not signed in: what this is, how results look, and one thing to do. */
export const Visitor = () => (
  <Stack>
    <Hero />
    <Columns />
    <Facts />
    {useIsPublic() && <Packs />}
    <Panel title={t('Call it from code')}>
      <Snippets />
    </Panel>
  </Stack>
)

const Hero = () => {
  const navigate = useNavigate()
  const { data: service } = useQuery(serviceQuery)
  const [isOpen, setOpen] = useState(false)
  const user = useDevelopmentUsers()[0]?.user
  const start = useMutation({
    mutationFn: async () => {
      if (!service?.development) return await signIn('/console/try/relight?use=example')
      const as = user ?? (await listDevelopmentUsers())[0]?.user
      if (as === undefined) return
      await signInAs(as)
      showToast(t('You are {user}, a user of this development server.', { user: as }))
      await navigate(tryPage('relight', undefined, 'example'))
    },
  })
  return (
    <section className={styles.hero}>
      <Stack>
        <h2 className={styles.claim}>
          {t('Image and video jobs on your ComfyUI machines, your own engines and your vendors.')}
        </h2>
        <p>
          {t(
            'Send a job by HTTP: it ends and is reported, whichever process dies, as a result or an error you can act on. Beside it is a registry for packs of custom nodes.',
          )}
        </p>
        <Row>
          <Button variant="primary" onPress={() => start.mutate()} isPending={start.isPending}>
            {user === undefined ? t('Try it') : t('Try it as {user}', { user })}
          </Button>
          {service?.samples && (
            <LinkButton {...tryPage('relight')}>{t('See samples without an account')}</LinkButton>
          )}
          <LinkButton to="/registry">{t('Browse packs')}</LinkButton>
          <a href="/docs/overview">{t('Read the docs')}</a>
        </Row>
        {start.error && <ErrorPanel error={start.error} />}
        <details onToggle={() => setOpen(true)}>
          <summary>{t('Sign in')}</summary>
          {isOpen && <SignIn />}
        </details>
      </Stack>
      <RelitPortrait />
    </section>
  )
}

const CARDS = [
  ['relight', t('Relight'), t('New light by a prompt or a reference picture.'), relit],
  ['upscale', t('Upscale'), t('Two to sixteen times the size.'), upscaled],
  ['skin_creative', t('Skin'), t('Even skin that keeps its texture.'), skin],
] as const

/** Facts that a visitor cannot know. */
const FACTS = {
  [t('What it costs')]: t(
    'Kiln itself costs nothing: it is open source and runs on your own machines. Credits are no money: operators limit use by them, and a job shows its price before you send it.',
  ),
  [t('What makes the results')]: t(
    'Out of the box an engine of plain image processing. It is not an AI model and invents nothing: it is there to try the service. Models run on the ComfyUI machines, engines and vendors that an operator connects.',
  ),
  [t('What ComfyUI is')]: t(
    'The host application of packs: in it, people draw image and video workflows as graphs of nodes. A pack adds nodes to it.',
  ),
}

const Facts = () => (
  <ul className="columns">
    {Object.entries(FACTS).map(([title, words]) => (
      <li key={title} className="stack tight">
        <h3>{title}</h3>
        <p className="soft">{words}</p>
      </li>
    ))}
  </ul>
)

const Columns = () => (
  <ul className={styles.cards}>
    {CARDS.map(([kind, title, words, picture]) => (
      <li key={kind}>
        <Link {...tryPage(kind)} className={styles.card}>
          <WhenSeen className={styles.room}>
            <img src={picture} alt="" />
          </WhenSeen>
          <strong>{title}</strong>
          <span className="soft">{words}</span>
        </Link>
      </li>
    ))}
    <li>
      <Link {...tryPage('text2video')} className={styles.card}>
        <WhenSeen className={styles.room}>
          <Clip src={clip} poster={clipPoster} />
        </WhenSeen>
        <strong>{t('Video')}</strong>
        <span className="soft">{t('From a prompt, a picture or two, or longer than it was.')}</span>
      </Link>
    </li>
  </ul>
)

const FEW = 3
// Some have no version yet, and are not for installs.
const READ = 2 * FEW
const popularQuery = readQuery('/nodes/search', { query: { sort: 'downloads;desc', limit: READ } })
const newQuery = readQuery('/nodes/search', { query: { sort: 'created_at;desc', limit: READ } })

/** Pixels of both lists, so that little moves once they are there. */
const LISTS_HEIGHT = 240

/** The registry, for who writes packs and who looks for one. */
const Packs = () => (
  <Panel
    title={t('Extension packs')}
    actions={
      <>
        <LinkButton to="/publishers">{t('Publish a pack')}</LinkButton>
        <LinkButton to="/registry">{t('Search packs')}</LinkButton>
      </>
    }
  >
    <p>
      {rich(
        'A pack is a Python package that adds custom nodes to ComfyUI: <code>__init__.py</code> has its NODE_CLASS_MAPPINGS, <code>pyproject.toml</code> its <code>[tool.comfy]</code>. Each version is checked for code that harms, shows its nodes, and says which saved workflows it would break.',
        { code: (text) => <code>{text}</code> },
      )}
    </p>
    <WhenSeen height={LISTS_HEIGHT}>
      <Few title={t('Popular')} query={popularQuery} none={<NoPacks />} />
      <Few title={t('New')} query={newQuery} />
    </WhenSeen>
  </Panel>
)

type FewProps = { title: string; query: typeof popularQuery; none?: ReactNode }

const Few = ({ title, query, none }: FewProps) => (
  <Show query={useQuery(query)}>
    {({ nodes }) => {
      const packs = nodes.filter(({ latest_version: latest }) => latest !== undefined)
      if (packs.length === 0) return none
      return (
        <>
          <h3>{title}</h3>
          <ul className={styles.packs}>
            {packs.slice(0, FEW).map((node) => (
              <li key={node.id}>
                <Tile src={iconOf(node)} name={node.name} />
                <span>
                  <Link {...nodePage(node.id)}>{node.name}</Link>
                  <Bdi as="p" className="cut soft">
                    {node.description}
                  </Bdi>
                  <span className="soft small">
                    {t('{count, plural, one {# download} other {# downloads}}', {
                      count: node.downloads,
                    })}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </>
      )
    }}
  </Show>
)

const [RELIGHT] = KINDS

const code = (text: string) => <Code label={t('the request')} text={text} />

export const Snippets = () => {
  const [chosen, setChosen] = useState('curl')
  if (!RELIGHT) return null
  const body = { image: 'https://example.com/portrait.png', ...EXAMPLE }
  const request = { origin: location.origin, kind: RELIGHT, body }
  const tabs = {
    curl: ['curl', code(toCurl(request))],
    typescript: ['TypeScript', code(toTypeScript(request))],
    python: [t('Python'), code(toPythonCode(request))],
  } as const
  return <Tabs label={t('Language')} tabs={tabs} selected={chosen} onSelect={setChosen} />
}
