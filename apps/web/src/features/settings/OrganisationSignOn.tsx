import { IdentityProviders } from './IdentityProviders.tsx'

/** How people of an organisation sign in by its own accounts. */
export default function OrganisationSignOn() {
  return <IdentityProviders />
}
