import { SpaceView } from './SpaceView.tsx'

/** What a person keeps for themselves, and what their organisation keeps. */
export default function PersonalSpace() {
  return <SpaceView kinds={['personal', 'organisation']} />
}
