import { useQuery } from '@tanstack/react-query'

import { serviceQuery, useMe } from '../api/queries.ts'
import { Code } from '../ui/code.tsx'
import { LinkButton } from '../ui/link.tsx'
import { Panel } from '../ui/panels.tsx'

/** Three commands to a first picture, until one has come out of it. */
export const FirstSteps = () => {
  const { data: service } = useQuery(serviceQuery)
  const me = useMe()
  const token = service?.development
    ? `export KILN_TOKEN="$(npm run --silent token -- ${me?.id ?? 'alice'})"`
    : 'export KILN_API_KEY="…"   # make one under Account'
  return (
    <Panel title="First steps" actions={<LinkButton to="/try">Try it here</LinkButton>}>
      <p>Or from a terminal, in a checkout of Kiln:</p>
      <Code label="the first command" text={`${token}\nexport KILN_URL="${location.origin}"`} />
      <Code
        label="the second command"
        text="npm run kiln -- relight samples/thumbnail.jpg --prompt sunset -o lit.jpg"
      />
      <Code
        label="the third command"
        text="npm run kiln -- upscale samples/thumbnail.jpg --scale 2x -o large.jpg"
      />
    </Panel>
  )
}
