import { SpaceView } from './SpaceView.tsx'

/** What a person keeps for themselves, and what their organisation and its projects keep. */
export default function PersonalSpace() {
  return <SpaceView kinds={['personal', 'organisation', 'project']} />
}
