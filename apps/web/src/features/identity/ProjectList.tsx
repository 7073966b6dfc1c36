import { ProjectTable } from './ProjectTable.tsx'
import { useOrganisationFilter } from '../../kit/useOrganisationFilter.tsx'

/** Projects of all organisations. */
export default function ProjectList() {
  const { organisation, control } = useOrganisationFilter()
  return <ProjectTable organisation={organisation} toolbar={control} />
}
