import { PageTitle } from '../ui/page.tsx'
import { Empty } from '../ui/panels.tsx'

export const SignedInPage = () => (
  <>
    <PageTitle>Signing in</PageTitle>
    <Empty>This page is not built yet.</Empty>
  </>
)
