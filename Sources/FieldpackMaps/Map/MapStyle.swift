/// The colours of a dark ground.
enum MapStyle {
  /// The style of a picture, whose elements have the colours of a light ground themselves.
  static func picture(_ paints: [SVGPaint]) -> String {
    "@media (prefers-color-scheme:dark){" + dark + paints.map(\.dark).joined() + "}"
  }

  static let dark = """
    .g{fill:#1c1e21}.f{fill:#26292c;stroke:#555}.t{fill:#e8e8e8}.s{fill:#a9a9a9}.o{stroke:#a9a9a9}\
    .h{stroke:#26292c}.n{fill:#f2f2f2;stroke:#26292c}
    """
}
