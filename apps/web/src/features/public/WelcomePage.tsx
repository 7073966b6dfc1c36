export default function WelcomePage() { return null }
