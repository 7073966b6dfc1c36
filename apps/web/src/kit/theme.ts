import type { ThemeConfig } from 'antd'

/** System fonts; 'Noto Sans CJK SC' last, for machines that have nothing else for Chinese. */
const sans =
  "-apple-system, BlinkMacSystemFont, 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', 'Source Han Sans SC', 'Noto Sans SC', 'Noto Sans CJK SC', sans-serif"
const mono = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Sarasa Mono SC', 'Noto Sans Mono CJK SC', monospace"

/** The class of whatever antd draws: it has the variables of the theme. */
export const themeClass = 'zs'

/** Every pair of text and ground here has a contrast of at least 4.5 to 1. styles/tokens.css repeats what plain elements need. */
export const theme: ThemeConfig = {
  cssVar: { key: themeClass },
  hashed: false,
  token: {
    fontFamily: sans,
    fontFamilyCode: mono,
    fontSize: 14,
    borderRadius: 6,
    colorPrimary: '#1d4fb8',
    colorInfo: '#1d4fb8',
    colorLink: '#1d4fb8',
    colorLinkHover: '#2a5cc4',
    colorSuccess: '#0f7a52',
    colorWarning: '#a85a00',
    colorError: '#c22a2a',
    colorText: '#17223b',
    colorTextSecondary: '#4a5670',
    colorTextTertiary: '#5b6782',
    colorTextDescription: '#5b6782',
    colorTextPlaceholder: '#6b7690',
    colorTextDisabled: '#5b6782',
    colorBorder: '#c9d1e0',
    colorBorderSecondary: '#e4e8f1',
    colorBgLayout: '#f5f7fb',
    // antd would mix these from the strong colours above, which are dark for the sake of contrast, and get mud.
    colorPrimaryBg: '#edf2fc',
    colorPrimaryBgHover: '#e0e9fa',
    // The ring around what has the focus, as strong as styles/base.css draws it.
    colorPrimaryBorder: '#1d4fb8',
    colorPrimaryBorderHover: '#12306f',
    lineWidthFocus: 2,
    colorInfoBg: '#edf2fc',
    colorInfoBorder: '#c6d5f3',
    colorSuccessBg: '#f0faf5',
    colorSuccessBorder: '#bfe3d3',
    colorWarningBg: '#fdf6ea',
    colorWarningBorder: '#efd9b0',
    colorErrorBg: '#fdf3f3',
    colorErrorBorder: '#f0c4c4',
    controlItemBgActive: '#edf2fc',
    controlOutlineWidth: 3,
  },
  components: {
    Table: { headerBg: '#f5f7fb', headerColor: '#4a5670', headerSplitColor: 'transparent', rowHoverBg: '#f7f9fd', cellPaddingBlockSM: 9 },
    Button: { fontWeight: 500, primaryShadow: 'none', defaultShadow: 'none', dangerShadow: 'none' },
    Form: { itemMarginBottom: 20, verticalLabelPadding: '0 0 6px' },
    Skeleton: { gradientFromColor: '#eef1f7', gradientToColor: '#f7f9fc' },
    Descriptions: { itemPaddingBottom: 10 },
  },
}
