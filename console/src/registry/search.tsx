import { PageTitle } from '../ui/page.tsx'
import { Empty } from '../ui/panels.tsx'

export const RegistryPage = () => (
  <>
    <PageTitle>Registry</PageTitle>
    <Empty>This page is not built yet.</Empty>
  </>
)
