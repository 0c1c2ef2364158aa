/// A page that shows one drawing and needs nothing from elsewhere.
package enum MapPage {
  /// - Parameter svg: a whole SVG file.
  package static func bytes(around svg: [UInt8], title: String) -> [UInt8] {
    var page = Array(
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(SVGText.escaped(title))</title>
      <style>
      body { margin: 0; background: #fff; }
      svg { display: block; margin: 0 auto; width: 100%; max-height: 100vh; }
      </style>
      </head>
      <body>

      """.utf8)
    page.append(contentsOf: svg)
    page.append(contentsOf: "</body>\n</html>\n".utf8)
    return page
  }
}
