import { SpaceView } from './SpaceView.tsx'

/** What everybody who is signed in reads. */
export default function PublicSpace() {
  return <SpaceView kinds={['public']} />
}
