import { PageTitle } from '../ui/page.tsx'
import { Empty } from '../ui/panels.tsx'

export const HomePage = () => (
  <>
    <PageTitle>Home</PageTitle>
    <Empty>This page is not built yet.</Empty>
  </>
)
