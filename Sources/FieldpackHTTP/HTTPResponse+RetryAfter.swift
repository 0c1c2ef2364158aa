package import FieldpackCore

extension HTTPResponse {
  /// How long the server asks to wait before the next request, by `Retry-After` (RFC 9110, 10.2.3):
  /// whole seconds, or a date such as `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` where it asks for nothing.
  /// No pause is longer than an hour.
  package func retryAfter(at now: Instant) -> Duration? {
    guard let text = fields["Retry-After"] else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return .seconds(min(Int64(text) ?? .max, Self.longestPause))
    }
    guard let moment = Self.date(text) else { return nil }
    let pause = max(0, moment.milliseconds - now.milliseconds)
    return .milliseconds(min(pause, Self.longestPause * 1000))
  }

  /// An hour, in seconds: a server that means more is asked once an hour, and one whose clock is
  /// wrong keeps no client away for long.
  private static let longestPause: Int64 = 3_600

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The form of dates that servers have to write; the two obsolete ones are not read.
  static func date(_ text: String) -> Instant? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", parts[1].count == 2, parts[3].count == 4,
      let day = Int(parts[1]), let month = months.firstIndex(of: String(parts[2])),
      let year = Int(parts[3]), let date = CalendarDate(year: year, month: month + 1, day: day)
    else { return nil }
    return Instant("\(date)T\(parts[4])Z")
  }
}
