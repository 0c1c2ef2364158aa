import FieldpackCore
import Testing

@Suite struct DisplayTextTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("äöü", 3), ("a\u{308}", 1), ("日本", 4), ("한글", 4), ("ﾊﾝ", 2), ("🙂", 2),
    ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2), ("\u{200B}x", 1), ("Ω≈ç", 3), ("क्षि", 3), ("～", 2),
  ])
  func `width is in cells`(text: String, width: Int) {
    #expect(DisplayText.width(text) == width)
  }

  @Test(arguments: [
    ("plain é 日本", "plain é 日本"), ("a\nb\r\tc", "a\\nb\\r\\tc"),
    ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"), ("\u{9b}2J", "\\u{9b}2J"),
    ("a\u{202E}b\u{2066}", "a\\u{202e}b\\u{2066}"), ("\u{7F}\0", "\\u{7f}\\u{0}"),
  ])
  func `what drives a terminal is spelled out`(text: String, visible: String) {
    #expect(DisplayText.visible(text) == visible)
  }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"),
    ("abc", 1, "…"), ("abc", 0, ""),
  ])
  func `cutting respects cells`(text: String, width: Int, cut: String) {
    #expect(DisplayText.cut(text, to: width) == cut)
  }
}

@Suite struct DecimalsTests {
  @Test(arguments: [
    (0.0, 0, "0"), (-0.4, 0, "0"), (1.005, 2, "1.00"), (-12.3456, 3, "-12.346"), (0.05, 1, "0.1"),
    (1e300, 2, "1e+300"),
  ])
  func `decimals are fixed`(value: Double, digits: Int, text: String) {
    #expect(Decimals.text(value, digits: digits) == text)
  }
}
