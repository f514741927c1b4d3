#!/usr/bin/env perl
# manual.pl - the man pages, in mdoc(7), from the comments of include/tilemm.h and include/tilemm_mpi.h.
#
#     perl doc/manual.pl SOURCE_FOLDER OUTPUT_FOLDER
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
#
# The header's first comment becomes libtilemm.3 or libtilemm-mpi.3, but for its paragraphs "Environment", which
# become tilemm-environment.7. A ruler comment, "Title: what is there", opens a page of the functions up to
# the next ruler; the page has the name of the first of them, and the example examples/api/title.c,
# or of tilemm_mpi.h examples/mpi/title.c where there is one. A type stands on the page of the first
# function that takes it, or takes a struct with it. In a comment
#   - lines "name, name  text" are a table: of the ruler's page, arguments of all its functions;
#   - a sentence "Returns TILEMM_A if ...; TILEMM_B." lists errors;
#   - lines that are indented by four blanks are code.
# An argument that no table and no sentence names, and a name that the header does not declare, stop
# the script. The file "links" has a line "alias page" for each further name of a page.
use strict;
use warnings;

my ($source, $output) = @ARGV;
my (@pages, $header_now, %page_of, %type, %constant, %variable, @macros);

sub slurp {
    my ($name) = @_;
    open my $file, '<', "$source/$name" or die "$source/$name: $!\n";
    local $/;
    return scalar <$file>;
}

# ---- reading the header -----------------------------------------------------------------------

# A comment's text: without its stars and rulers.
sub text_of {
    my ($comment) = @_;
    $comment =~ s{^/\*}{}; $comment =~ s{\s*\*/$}{};
    return join "\n", grep { !/^-{20,}$/ } map { s/^\s*\*? ?//r =~ s/\s+$//r } split /\n/, " *$comment";
}

# A comment's blocks: [title or '', 'text' | 'code' | 'table', text or rows], and its errors.
sub blocks_of {
    my ($comment) = @_;
    my (@blocks, @errors);
    for my $block (split /\n\n+/, text_of($comment) =~ s/^\n+//r) {
        if ($block =~ /^    /) {
            push @blocks, ['', 'code', $block =~ s/^    //mgr];
        } elsif ($block =~ /^\w+(?:, \w+)*  +\S/) {
            push @blocks, ['', 'table', [map { [/^(\S.*?)  +(.*)/s] } split /\n(?=\S)/, $block]];
        } else {
            $block =~ s/\s+/ /g;
            push @errors, split /;\s(?=TILEMM_)/, $1
                while $block =~ s/(?:^|(?<=\. ))Returns (TILEMM_\w+.*?)\.(?: |$)//;
            my $title = $block =~ s/^([A-Z][a-z]+)\. (?=.)// ? $1 : '';
            push @blocks, [$title, 'text', $block] if $block =~ /\S/;
        }
    }
    return (\@blocks, [map { [/^(TILEMM_\w+)\W*?(?: \(?(.*?)\)?)?$/] } @errors]);
}

# The enumerators of an enum, or the members of a struct: [declaration, comment].
sub members_of {
    my ($body, $end) = @_;
    my @members;
    while ($body =~ m{\G\s*([^$end/\s][^$end/]*)$end?\s*(?:/\*\s*(.*?)\s*\*/)?}gs) {
        my ($member, $comment) = ($1, $2 // '');
        push @members, [$member =~ s/\s+$//r, $comment =~ s/\s*\n\s*\*?\s*/ /gr];
    }
    return \@members;
}

sub add_type {
    my ($name, $entry, @more) = @_;
    $type{$name} = {name => $name, order => scalar keys %type, entry => $entry, @more};
}

# A declaration, into the page where it stands.
sub declare {
    my ($declaration, $entry, $page) = @_;
    if ($declaration =~ /^(typedef )?(enum|struct) \{(.*)\}\s*(\w*)$/s) {
        my $members = members_of($3, $2 eq 'enum' ? ',' : ';');
        if ($2 eq 'enum') {
            $constant{(split ' ', $_->[0])[0]} = $_->[1] for @$members;
        }
        return push @{$page->{constants}}, $declaration if !$1;
        add_type($4, $entry, kind => $2, members => $members);
    } elsif ($declaration =~ /^typedef .*?(?:\(\*(\w+)\).*|(\w+))$/s) {
        add_type($1 // $2, $entry, code => "$declaration;");
    } elsif ($declaration =~ /^(.*?)(\w+)\((.*)\)$/s) {
        my ($result, $name, $list) = ($1, $2, $3);
        my @arguments = map { s/^\s+|\s+$//gr =~ s/\s+/ /gr } split /,(?![^(]*\))/, $list;
        push @{$entry->{functions}},
            {name => $name, result => $result =~ s/\s+$//r, arguments => \@arguments};
        push @{$page->{entries}}, $entry if @{$entry->{functions}} == 1;
        $page_of{$name} = $page;
    } else {
        die "$header_now: what is this? $declaration\n";
    }
}

sub read_header {
    ($header_now) = @_;
    my $header = slurp("include/$header_now");
    my ($introduction, $rest) = $header =~ m{^(/\*.*?\*/)(.*)}s;
    my ($entry, $page) = ({}, {});
    $rest =~ s/^#ifdef __cplusplus.*?^#endif\n//msg;
    while ($rest =~ m{\G\s*?(?:(\n\s*\n)|(/\*.*?\*/)|(^\#[^\n]*)|((?:[^;{}/]|\{[^{}]*\})+?);)}gms) {
        if (defined $1) {
            $entry = {};
        } elsif (defined $2) {
            my ($blocks, $errors) = blocks_of($2);
            $entry = {blocks => $blocks, errors => $errors};
            next if $2 !~ /-{20}/;
            my $heading = (shift @$blocks)->[2];
            my ($title, $what) = $heading =~ /^([\w ]+): (.*)/ or next;
            $page = {%$entry, title => $title, what => $what, header => $header_now};
            push @pages, $page;
        } elsif (defined $3) {
            push @macros, $1 if $3 =~ /^#define (\w+ \S.*)/;
        } else {
            declare($4 =~ s/^\s+//r, $entry, $page);
        }
    }
    $_->{name} = $_->{entries}[0]{functions}[0]{name} for @pages;
    return blocks_of($introduction);
}

# Each type to the first function that takes it.
sub place_types {
    for my $page (@pages) {
        for my $function (map { @{$_->{functions}} } @{$page->{entries}}) {
            $_->{page} //= $page for map { $type{$_} // () } map { /(\w+)/g } @{$function->{arguments}};
        }
    }
    for my $struct (grep { $_->{page} && ($_->{kind} // '') eq 'struct' } values %type) {
        $_->{page} //= $struct->{page}
            for map { $type{$_} // () } map { /(\w+)/g } map { $_->[0] } @{$struct->{members}};
    }
    for (sort keys %type) {
        $type{$_}{page} or die "$header_now: no function takes a $_\n";
    }
}

# ---- mdoc -------------------------------------------------------------------------------------

my $page_now; # the page that is written

# Text, on a text line of roff.
sub escape {
    my ($text) = @_;
    $text =~ s/\\/\\e/g;
    $text =~ s/(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])/\\-/g;
    return $text =~ s/^(?=[.'])/\\&/r;
}

# The macro and its argument for a name; nothing for another word.
sub macro_of {
    my ($word) = @_;
    return "Fa $1" if $word =~ /^`(\w+)`$/;
    return "Ev $word" if $variable{$word};
    return "Dv $word" if exists $constant{$word};
    return "Xr $1 $2" if $word =~ /^(\S+)\((\d)\)$/;
    my $page = $page_of{$word} || ($type{$word} && $type{$word}{page}) or die "$header_now: there is no $word\n";
    return $page != $page_now ? "Xr $word 3" : $type{$word} ? "Vt $word" : "Fn $word";
}

# A paragraph as lines of roff, where names are macros. A sentence ends a line.
sub prose {
    my ($text) = @_;
    my ($line, $out) = ('', '');
    my $flush = sub { $out .= escape($line) . "\n" if $line ne ''; $line = ''; };
    for my $word (split ' ', $text) {
        if ($word =~ /^(\W*?)(tilemm[\w-]*\(\d\)|`\w+`|tilemm_\w+|TILEMM_\w+)(?:\(\))?(.*?)([.,:;)]*)$/) {
            my ($before, $name, $after, $close) = map { s/"/\\(dq/gr } $1, $2, $3, $4;
            $flush->();
            my $macro = macro_of($name);
            $out .= $before ne '' ? ".Pf $before $macro" : ".$macro";
            $out .= " Ns $after" if $after ne '';
            $out .= join('', map { " $_" } split //, $close) . "\n";
        } else {
            $flush->() if length($line) + length($word) > 76;
            $line .= ($line eq '' ? '' : ' ') . $word;
            $flush->() if $word =~ /(?<!\.)[.?!][)"]*$/;
        }
    }
    $flush->();
    return $out;
}

sub code {
    my ($text) = @_;
    my %roff = ('\\' => '\\e', '-' => '\\-', "'" => '\\(aq', '`' => '\\(ga', '^' => '\\(ha', '~' => '\\(ti');
    $text =~ s/([\\\-'`^~])/$roff{$1}/g;
    $text =~ s/^(?=[.'])/\\&/mg;
    return ".Bd -literal -offset indent\n$text\n.Ed\n";
}

# Rows of [label, text], each label an argument of .It.
sub table {
    my (@rows) = @_;
    return '' if !@rows;
    my ($width) = sort { $b <=> $a } map { length($_->[0]) - 3 } @rows;
    my $list = join '', map { ".It $_->[0]\n" . ($_->[1] ne '' ? prose($_->[1]) : '') } @rows;
    return '.Bl -tag -width ' . ($width > 12 ? 'Ds' : 'x' x $width) . "\n$list.El\n";
}

sub arguments { # ROW...
    return table(map { ['Fa ' . $_->[0] =~ s/, / , /gr, ucfirst $_->[1]] } @_);
}

sub errors { # [status, reason]...
    return table(map { ["Dv $_->[0]", ucfirst($_->[1] || $constant{$_->[0]})] } @_);
}

# The blocks of a comment; a table's rows by the given function.
sub blocks {
    my ($rows, @blocks) = @_;
    my $out = '';
    for (@blocks) {
        my ($title, $kind, $content) = @$_;
        $out .= ".Ss $title\n" if $title;
        $out .= ".Pp\n" if $out ne '' && !$title && $kind eq 'text';
        $out .= $kind eq 'text' ? prose($content) : $kind eq 'code' ? code($content) : $rows->(@$content);
    }
    return $out;
}

sub comma_list { # MACRO NAME...: a line each
    my ($macro, @names) = @_;
    my $last = pop @names;
    return join('', map { ".$macro $_ ,\n" } @names) . ".$macro $last\n";
}

# A page: NAME and then what it has.
sub write_page {
    my ($file, $names, $what, $body) = @_;
    my ($title, $section) = $file =~ /^(.*)\.(\d)$/;
    my ($year, $month, $day) = slurp('ChangeLog') =~ /^(\d+)-(\d+)-(\d+)/ or die "ChangeLog: no date\n";
    my $date = sprintf '%s %d, %d', (qw(January February March April May June July August September
        October November December))[$month - 1], $day, $year;
    my $version = join '.', map { /^TILEMM_VERSION_\w+ (\d+)/ ? $1 : () } @macros;
    open my $page, '>', "$output/$file" or die "$output/$file: $!\n";
    print $page ".\\\" Made by doc/manual.pl from include/$page_now->{header}: edit that.\n",
        ".\\\" Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause\n",
        ".Dd $date\n.Dt \U$title\E $section\n.Os libtilemm $version\n.Sh NAME\n",
        comma_list('Nm', @$names), ".Nd $what\n", $body;
    close $page or die "$output/$file: $!\n";
}

sub see_also { # PAGE.SECTION...
    my @pages = sort map { join '.', reverse split /\./ } grep { $_ ne $page_now->{name} . '.3' } @_;
    return ".Sh SEE ALSO\n" . comma_list('Xr', map { join ' ', reverse split /\./ } @pages);
}

# ---- a page of functions ----------------------------------------------------------------------

sub names_of { # an entry's functions
    return map { $_->{name} } @{$_[0]{functions}};
}

sub synopsis {
    my ($page) = @_;
    my $out = ".Sh SYNOPSIS\n.In $page->{header}\n";
    $out .= ".Bd -literal\n$_;\n.Ed\n" for @{$page->{constants} // []};
    for my $function (map { @{$_->{functions}} } @{$page->{entries}}) {
        my $arguments = join '', map { ".Fa \"$_\"\n" } @{$function->{arguments}};
        $out .= ".Ft \"$function->{result}\"\n.Fo $function->{name}\n$arguments.Fc\n";
    }
    return $out;
}

sub rows_of { # the rows of all tables among these blocks
    return map { $_->[1] eq 'table' ? @{$_->[2]} : () } @_;
}

# The rows that all functions of the page share. No argument may be without words.
sub shared_arguments {
    my ($page, @general) = @_;
    my @shared = rows_of(@{$page->{blocks}});
    my %used;
    for my $entry (@{$page->{entries}}) {
        my %own = map { $_ => 1 } map { split /, / } map { $_->[0] } rows_of(@{$entry->{blocks}});
        my $said = join ' ', map { $_->[1] eq 'text' ? $_->[2] : () } @{$entry->{blocks}};
        for my $function (@{$entry->{functions}}) {
            for (@{$function->{arguments}}) {
                my ($name) = /\(\*(\w+)\)|(\w+)(?:\[\d*\])?$/ ? $1 // $2 : '';
                next if $own{$name} || $name eq 'void';
                $used{$name} = 1;
                next if grep { grep { $_ eq $name } split /, /, $_->[0] } @shared, @general;
                length $name > 1 && $said =~ /\b$name\b/
                    or die "$header_now: nothing is said of argument $name of $function->{name}\n";
            }
        }
    }
    return ((grep { $used{$_->[0]} } @general), @shared);
}

sub types_of {
    my ($page) = @_;
    return sort { $a->{order} <=> $b->{order} } grep { $_->{page} == $page } values %type;
}

sub types {
    my ($page) = @_;
    my $out = '';
    for my $type (types_of($page)) {
        my $entry = $type->{entry};
        $out .= ".Ss $type->{name}\n" . blocks(\&arguments, @{$entry->{blocks} // []});
        $out .= code($type->{code}) if $type->{code};
        $out .= table(map { [($type->{kind} eq 'enum' ? 'Dv ' . $_->[0] =~ s/ = 0$//r =~ s/ =/ No =/r
                                                      : "Vt \"$_->[0]\""), $_->[1]] } @{$type->{members}})
            if $type->{members};
    }
    return $out ? ".Sh TYPES\n$out" : '';
}

sub return_values {
    my ($page) = @_;
    my @functions = map { @{$_->{functions}} } @{$page->{entries}};
    my @status = grep { $_->{result} eq 'tilemm_status_t' } @functions;
    return '' if !@status;
    my $who = @status == @functions ? @status == 1 ? "$status[0]{name} returns" : 'These functions return'
        : @status == 1 ? "$status[0]{name} returns" : join(', ', map { $_->{name} } @status) . ' return';
    my $why = @status == grep({ "@{$_->{arguments}}" =~ /\btilemm_t ctx\b/ } @status)
        ? ', and tilemm_last_error then says in words what was wrong' : '';
    return ".Sh RETURN VALUES\n" . prose("$who TILEMM_SUCCESS, or another tilemm_status_t$why.");
}

sub error_section {
    my ($page) = @_;
    my $out = errors(@{$page->{errors}});
    for my $entry (grep { @{$_->{errors} // []} } @{$page->{entries}}) {
        $out .= ".Pp\n" . comma_list('Fn', names_of($entry));
        $out .= ($out =~ /^\.Bl/ ? "also:\n" : "fails with:\n") . errors(@{$entry->{errors}});
    }
    return $out ? ".Sh ERRORS\n" . $out =~ s/^\.Pp\n//r : '';
}

sub example {
    my ($page) = @_;
    my $folder = $page->{header} eq 'tilemm.h' ? 'api' : 'mpi';
    my $name = "examples/$folder/" . lc($page->{title}) =~ tr/ /_/r . '.c';
    return '' if $folder eq 'mpi' && !-f "$source/$name";
    my ($comment, $program) = slurp($name) =~ m{^(/\*.*?\*/)\n(.*?)\n*$}s or die "$name: no comment\n";
    return ".Sh EXAMPLES\n" . blocks(\&arguments, @{(blocks_of($comment))[0]}) . code($program);
}

# Pages that those of a header name.
my %beside = ('tilemm.h' => ['tilemm.1', 'libtilemm.3', 'tilemm-environment.7'],
    'tilemm_mpi.h' => ['tilemm-mpi.1', 'libtilemm-mpi.3', 'libtilemm-scalapack.7', 'tilemm-environment.7']);

sub pages_of {
    my ($header) = @_;
    return grep { $_->{header} eq $header } @pages;
}

sub function_page {
    my ($page, @general) = @_;
    $page_now = $page;
    $header_now = $page->{header};
    my $items = '';
    for my $entry (@{$page->{entries}}) {
        my @names = names_of($entry);
        $items .= @names == 1 ? ".It Fn $names[0]\n" : ".It Xo\n" . comma_list('Fn', @names) . ".Xc\n";
        $items .= blocks(\&arguments, @{$entry->{blocks}});
    }
    my @names = ((map { names_of($_) } @{$page->{entries}}), map { $_->{name} } types_of($page));
    my @arguments = shared_arguments($page, @general);
    write_page("$page->{name}.3", \@names, lcfirst $page->{what},
        synopsis($page) . ".Sh DESCRIPTION\n"
        . blocks(sub { '' }, @{$page->{blocks}}) . ".Bl -tag -width Ds\n$items.El\n"
        . (@arguments ? ".Sh ARGUMENTS\n" . arguments(@arguments) : '') . types($page)
        . return_values($page) . example($page) . error_section($page)
        . see_also(@{$beside{$page->{header}}}, map { "$_->{name}.3" } pages_of($page->{header})));
    return map { $_ eq $page->{name} ? () : "$_.3 $page->{name}.3" } @names;
}

# ---- the introduction, the environment and the links ------------------------------------------

# The page of a header: its name, its pkg-config module, and what stands below SYNOPSIS.
sub introduction_page {
    my ($name, $header, $module, $define, $what, @blocks) = @_;
    $page_now = {name => $name, header => $header};
    my $index = join '', map { ".It $_->{title}: $_->{what}\n" . comma_list('Xr', map { "$_ 3" }
        (map { names_of($_) } @{$_->{entries}}), map { $_->{name} } types_of($_)) } pages_of($header);
    write_page("$name.3", [$name], $what,
        ".Sh SYNOPSIS\n.In $header\n" . join('', map { ".Fd \"#define $_\"\n" } @$define)
        . ".Pp\ncc program.c \$(pkg\\-config \\-\\-cflags \\-\\-libs $module)\n"
        . ".Sh DESCRIPTION\n" . blocks(\&arguments, @blocks)
        . ".Sh FUNCTIONS AND TYPES\n.Bl -tag -width Ds\n$index.El\n"
        . ".Sh ENVIRONMENT\n" . prose('See tilemm-environment(7).')
        . see_also((grep { $_ ne "$name.3" } @{$beside{$header}}), map { "$_->{name}.3" } pages_of($header)));
}

sub environment_page {
    $page_now = {name => '', header => 'tilemm.h'};
    write_page('tilemm-environment.7', ['tilemm-environment'], 'environment variables of libtilemm',
        ".Sh DESCRIPTION\n" . blocks(sub { table(map { ["Ev $_->[0]", $_->[1]] } @_) }, @_)
        . see_also('tilemm.1', 'libtilemm.3'));
    return map { "$_.7 tilemm-environment.7" } sort keys %variable;
}

# A header's introduction: what it is in a line, its chapters, and its blocks without "Environment".
sub introduction {
    my ($blocks) = @_;
    my ($what) = (shift @$blocks)->[2] =~ /- (.*)\.$/ or die "$header_now: the first line\n";
    shift @$blocks while $blocks->[0][2] ne 'INTRODUCTION';
    shift @$blocks;
    my ($title, %chapter) = ('');
    for (@$blocks) {
        $title = $_->[0] || $title;
        push @{$chapter{$title}}, $_;
    }
    my @environment = @{$chapter{Environment} // []};
    $variable{$_->[0]} = 1 for rows_of(@environment);
    $environment[0] = ['', @{$environment[0]}[1, 2]] if @environment;
    my @rest = grep { my $block = $_; !grep { $_ == $block } @{$chapter{Environment} // []} } @$blocks;
    return {what => $what, chapter => \%chapter, environment => \@environment, rest => \@rest};
}

my %intro;
for my $header (grep { -f "$source/include/$_" } 'tilemm.h', 'tilemm_mpi.h') {
    my ($blocks) = read_header($header);
    $intro{$header} = introduction($blocks);
}
place_types();
my @general = rows_of(@{$intro{'tilemm.h'}{chapter}{Arguments}});

my @links = map { function_page($_, @general) } @pages;
introduction_page('libtilemm', 'tilemm.h', 'tilemm', \@macros, $intro{'tilemm.h'}{what},
    @{$intro{'tilemm.h'}{rest}});
introduction_page('libtilemm-mpi', 'tilemm_mpi.h', 'tilemm_mpi', [], $intro{'tilemm_mpi.h'}{what},
    @{$intro{'tilemm_mpi.h'}{rest}}) if $intro{'tilemm_mpi.h'};
push @links, environment_page(map { @{$_->{environment}} } map { $intro{$_} } sort keys %intro);
open my $file, '>', "$output/links" or die "$output/links: $!\n";
print $file map { "$_\n" } @links;
close $file or die "$output/links: $!\n";
