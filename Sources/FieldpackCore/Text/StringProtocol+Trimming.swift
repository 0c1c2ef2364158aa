extension StringProtocol {
  /// The text without the white space of XML and HTTP around it: blanks, tabs and ends of lines.
  package var trimmedOfSpace: String {
    var scalars = Substring(self).unicodeScalars
    while let first = scalars.first, " \t\r\n".unicodeScalars.contains(first) {
      scalars.removeFirst()
    }
    while let last = scalars.last, " \t\r\n".unicodeScalars.contains(last) { scalars.removeLast() }
    return String(scalars)
  }
}
