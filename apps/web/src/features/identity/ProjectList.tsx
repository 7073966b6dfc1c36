import { ProjectTable } from './ProjectTable.tsx'
import { useOrganisationFilter } from '../../kit/useOrganisationFilter.tsx'
import { useKeeping } from '../../session/keeping.ts'

/** Projects of all organisations. */
export default function ProjectList() {
  const { organisation, control } = useOrganisationFilter()
  const { everybody } = useKeeping()
  return everybody ? <ProjectTable organisation={organisation} toolbar={control} /> : <ProjectTable />
}
